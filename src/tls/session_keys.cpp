// The keys of a Session: which secret opens a direction's records, and when it changes.
#include <algorithm>
#include <array>

#include "ossl/hkdf.h"
#include "tls/session.h"

namespace tlstrata::tls {
namespace {

constexpr std::uint16_t tls12 = 0x0303;

constexpr std::array traffic_secrets{SecretKind::client_handshake_traffic, SecretKind::server_handshake_traffic,
                                     SecretKind::client_traffic, SecretKind::server_traffic};
static_assert(traffic_secrets.size() == most_traffic_secrets);

constexpr SecretKind application_secret(Role role) {
  return role == Role::client ? SecretKind::client_traffic : SecretKind::server_traffic;
}

}  // namespace

void Session::key(Role role, SecretKind kind, Epoch epoch) {
  Direction& direction = side(role);
  direction.epoch = epoch;
  direction.failures = 0;
  direction.messages.reset();
  if (epoch == Epoch::handshake && !secrets_->has(kind) && has_keys_) {
    // Records under the unknown key fail, and leave the sequence number alone, until the first under the application's.
    direction.skipped_handshake = true;
    direction.finished = true;
    key(role, application_secret(role), Epoch::application);
    return;
  }
  const std::span<const std::uint8_t> secret = secrets_->of(kind);
  const bool is_half = epoch == Epoch::application && !has_keys_;  // one side's data says nothing of the other's
  if (secret.empty() || !suite_ || is_half) {
    stop_opening(role);
    return;
  }
  const auto found = std::ranges::find(traffic_secrets, kind);
  const auto keyed =
      found == traffic_secrets.end()
          ? direction.protection.rekey(*suite_, secret)
          : direction.protection.rekey(*suite_, secret,
                                       traffic_keys_[static_cast<std::size_t>(found - traffic_secrets.begin())]);
  if (!keyed) {
    stop_opening(role);
  }
}

// No record of this direction will be opened from here on, so none is kept.
void Session::stop_opening(Role role) {
  side(role).protection.clear();
  side(role).records.skip_application_data(true);
}

void Session::start_handshake_keys() {
  if (!secrets_ || !suite_ || !suite_->is_tls13) {
    stop_opening(Role::client);
    stop_opening(Role::server);
    return;
  }
  has_keys_ = secrets_->has(SecretKind::client_traffic) && secrets_->has(SecretKind::server_traffic);
  const bool opens_both = has_keys_ || (secrets_->has(SecretKind::client_handshake_traffic) &&
                                        secrets_->has(SecretKind::server_handshake_traffic));
  const bool came_to_data = secrets_->has(SecretKind::client_traffic) || secrets_->has(SecretKind::server_traffic);
  if (!opens_both && came_to_data) {
    // One side of a connection is worse than none: what is all closed can be inferred. Of a handshake that failed, which was
    // logged up to there, it tells what it can.
    stop_opening(Role::client);
    stop_opening(Role::server);
    return;
  }
  TrafficSecrets secrets;
  for (std::size_t i = 0; i < secrets.size(); ++i) {
    secrets[i] = secrets_->of(traffic_secrets[i]);
  }
  derive_traffic_keys(suite_->digest, ossl::key_size(suite_->aead), secrets, traffic_keys_);
  key(Role::server, SecretKind::server_handshake_traffic, Epoch::handshake);
  key(Role::client, SecretKind::client_handshake_traffic, Epoch::handshake);
}

void Session::take_finished(Role role) {
  Direction& direction = side(role);
  if (direction.finished) {
    return;
  }
  direction.finished = true;
  if (!is_tls13() || !secrets_) {
    return;
  }
  key(role, application_secret(role), Epoch::application);
}

// RFC 5246 section 6.3: the key block of AEAD suites is client key, server key, client nonce, server nonce.
void Session::start_tls12_keys() {
  if (side(Role::client).protection.has_key() || !suite_ || suite_->is_tls13 || !secrets_ || version_ != tls12) {
    return;
  }
  const std::span<const std::uint8_t> master = secrets_->of(SecretKind::master_secret);
  if (master.empty() || !has_client_hello_) {
    return;
  }
  std::array<std::uint8_t, 64> seed{};
  std::ranges::copy(server_random_, seed.begin());
  std::ranges::copy(client_random_, seed.begin() + 32);
  const std::size_t key_size = ossl::key_size(suite_->aead);
  const std::size_t nonce_size = suite_->aead == ossl::AeadAlgorithm::chacha20_poly1305 ? 12 : 4;
  std::array<std::uint8_t, 2 * (32 + 12)> block{};
  const auto bytes = std::span(block).first(2 * (key_size + nonce_size));
  if (!ossl::tls12_prf(suite_->digest, master, "key expansion", seed, bytes)) {
    return;
  }
  for (const Role role : {Role::client, Role::server}) {
    const auto key_bytes = bytes.subspan(index(role) * key_size, key_size);
    const auto nonce = bytes.subspan(2 * key_size + index(role) * nonce_size, nonce_size);
    if (side(role).protection.rekey_from_block(*suite_, key_bytes, nonce)) {
      side(role).epoch = Epoch::application;
    }
  }
  has_keys_ = side(Role::client).protection.has_key() && side(Role::server).protection.has_key();
}

}  // namespace tlstrata::tls

// layer: tls
// Both directions of a connection whose secrets are known: any chunking gives the same items, per direction in the same
// order, and items keep their promises. Raw bytes, plain records and records sealed here under any of the secrets come in
// any order, so that what stands behind the protection is reached too.
#include <map>
#include <string>

#include "choices.h"
#include "sealer.h"
#include "tls/session.h"

namespace {

using namespace tlstrata;
using namespace tlstrata::fuzz;
using tls::Item;
using tls::Role;
using tls::SecretKind;

// The ClientHello.random that all seeds use, and secrets that follow from their kinds: two suites' hashes, two sizes.
constexpr std::uint8_t random_byte = 0x5A;

Bytes secret_of(SecretKind kind, std::size_t size) {
  return Bytes(size, static_cast<std::uint8_t>(0x30 + static_cast<int>(kind)));
}

std::string hex(View bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text += "0123456789abcdef"[byte >> 4U];
    text += "0123456789abcdef"[byte & 15U];
  }
  return text;
}

tls::KeyLog make_keys(std::size_t size, bool with_early) {
  constexpr const char* labels[] = {"CLIENT_EARLY_TRAFFIC_SECRET",     "CLIENT_HANDSHAKE_TRAFFIC_SECRET",
                                    "SERVER_HANDSHAKE_TRAFFIC_SECRET", "CLIENT_TRAFFIC_SECRET_0",
                                    "SERVER_TRAFFIC_SECRET_0",         "CLIENT_RANDOM"};
  std::string text;
  for (std::size_t kind = with_early ? 0 : 1; kind < tls::secret_kind_count; ++kind) {
    const auto which = static_cast<SecretKind>(kind);
    const std::size_t length = which == SecretKind::master_secret ? 48 : size;
    text += std::string(labels[kind]) + ' ' + hex(Bytes(32, random_byte)) + ' ' + hex(secret_of(which, length)) + '\n';
  }
  tls::KeyLog keys;
  keys.feed(Bytes(text.begin(), text.end()));
  keys.finish();
  return keys;
}

struct Step {
  Role role = Role::client;
  bool is_gap = false;
  std::uint64_t length = 0;
  Bytes bytes;
};

// Makes the steps; sealed records take their keys' numbers in this order.
std::vector<Step> steps_of(Choices& choices, std::uint16_t suite) {
  const tls::SuiteParameters parameters = *tls::suite_parameters(suite);
  const std::size_t size = ossl::digest_size(parameters.digest);
  std::map<SecretKind, Sealer> sealers;
  for (const SecretKind kind :
       {SecretKind::client_early_traffic, SecretKind::client_handshake_traffic, SecretKind::server_handshake_traffic,
        SecretKind::client_traffic, SecretKind::server_traffic}) {
    sealers.emplace(kind, Sealer(parameters, secret_of(kind, size)));
  }
  std::vector<Step> steps;
  while (!choices.empty() && steps.size() < 60) {
    const std::uint8_t kind = choices.u8();
    Step step;
    step.role = (kind & 1U) != 0 ? Role::server : Role::client;
    step.length = choices.u16();
    const std::uint8_t detail = choices.u8();
    switch ((kind >> 1U) % 5) {
      case 0:  // raw
        step.bytes = exact(choices.take(step.length));
        break;
      case 1: {  // a plain record of the type `detail`
        const View content = choices.take(step.length);
        step.bytes = {detail, 3, 3, static_cast<std::uint8_t>(content.size() >> 8U),
                      static_cast<std::uint8_t>(content.size())};
        step.bytes.insert(step.bytes.end(), content.begin(), content.end());
        break;
      }
      case 2: {  // a sealed record: `detail` is the inner type, and whether the application's key or the next is used
        const bool application = (detail & 0x80U) != 0;
        const bool early = step.role == Role::client && (detail & 0x40U) != 0;
        Sealer& sealer = sealers.at(early                       ? SecretKind::client_early_traffic
                                    : step.role == Role::client ? (application ? SecretKind::client_traffic
                                                                               : SecretKind::client_handshake_traffic)
                                    : application               ? SecretKind::server_traffic
                                                                : SecretKind::server_handshake_traffic);
        step.bytes = sealer.seal(detail & 0x3FU, choices.take(step.length % 16'000), kind >> 4U);
        break;
      }
      case 3:  // the next generation
        sealers.at(step.role == Role::client ? SecretKind::client_traffic : SecretKind::server_traffic).update();
        continue;
      default:
        if (step.length == 0) {
          continue;
        }
        step.is_gap = true;
        break;
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

using Story = std::vector<std::string>;

std::string describe(const Item& item) {
  std::string line = std::to_string(static_cast<int>(item.kind)) + ' ' +
                     std::to_string(static_cast<int>(item.content_type)) + ' ' + std::to_string(item.first.packet) +
                     ' ' + std::to_string(item.complete.packet) + ' ' + std::to_string(item.record_begin) + ' ' +
                     std::to_string(item.record_end) + ' ' + std::to_string(item.message_size) + ' ' +
                     std::to_string(item.alert.level) + ' ' + std::to_string(item.alert.description) +
                     (item.is_early ? " early" : "") + (item.is_encrypted ? " encrypted" : "") + ' ' +
                     std::to_string(static_cast<int>(item.lost_reason));
  if (item.kind == Item::Kind::client_hello) {
    line += ' ' + item.client_hello->server_name + ' ' + std::to_string(item.client_hello->key_shares.size());
  } else if (item.kind == Item::Kind::server_hello) {
    line += ' ' + std::to_string(item.server_hello->cipher_suite) + ' ' + std::to_string(item.server_hello->version);
  } else if (item.kind == Item::Kind::message) {
    line += ' ' + std::to_string(static_cast<int>(item.message_type));
  } else if (item.kind == Item::Kind::application_data) {
    line += ' ' + std::to_string(item.needless_bytes);
    for (std::size_t at = 0; at < item.plaintext.size(); at += 1 + item.plaintext.size() / 5) {
      line += ' ' + std::to_string(item.first_at(at).packet);
    }
    line.append(item.plaintext.begin(), item.plaintext.end());
  }
  return line;
}

// `appetite`: so many times an Item's plaintext is then called needless.
std::array<Story, 2> run(const std::vector<Step>& steps, const tls::KeyLog& keys, std::size_t most,
                         std::uint64_t appetite) {
  tls::Session session(keys);
  std::array<Story, 2> stories;
  std::array<std::uint64_t, 2> offsets{};
  const auto drain = [&] {
    while (true) {
      const auto next = session.next();
      require(next.has_value(), "a session has no errors");
      if (!*next) {
        return;
      }
      const Item& item = **next;
      require(item.record_begin <= item.record_end || item.kind == Item::Kind::not_tls,
              "records do not end before they begin");
      require((item.kind == Item::Kind::client_hello) == (item.client_hello != nullptr),
              "a hello comes with its content");
      require(item.plaintext.size() <= (std::size_t{1} << 14U) + 2048, "a record bounds its plaintext");
      stories[tls::index(item.role)].push_back(describe(item));
      if (item.kind == Item::Kind::application_data) {
        require(item.needless_bytes == 0 || (item.plaintext.empty() && appetite != 0), "what is passed was needless");
        session.set_needless(item.role, appetite * (item.plaintext.size() + item.needless_bytes));
      }
    }
  };
  std::uint64_t packet = 0;
  Sizes sizes(3, most);
  for (const Step& step : steps) {
    const tls::Stamp stamp{0, ++packet};
    std::uint64_t& offset = offsets[tls::index(step.role)];
    if (step.is_gap) {
      session.gap(step.role, offset, step.length, tcp::GapReason::not_captured, stamp);
      offset += step.length;
      drain();
    }
    for (View rest = step.bytes; !rest.empty();) {
      const Bytes piece = exact(rest.first(most == 0 ? rest.size() : std::min(sizes.next(), rest.size())));
      session.chunk(step.role, piece, offset, stamp, stamp);
      offset += piece.size();
      drain();
      rest = rest.subspan(piece.size());
    }
  }
  session.finish();
  drain();
  return stories;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const tls::KeyLog keys32 = make_keys(32, true);
  static const tls::KeyLog keys48 = make_keys(48, true);
  static const tls::KeyLog late_keys = make_keys(32, false);
  static const tls::KeyLog no_keys;
  constexpr std::uint16_t suites[] = {0x1301, 0x1302, 0x1303, 0x1304, 0x1305};
  Choices choices(View(data, size));
  const std::uint8_t mode = choices.u8();
  const std::uint16_t suite = suites[mode % 5];
  const tls::KeyLog& keys = (mode & 0x80U) != 0   ? no_keys
                            : (mode & 0x40U) != 0 ? late_keys
                            : suite == 0x1302     ? keys48
                                                  : keys32;
  const std::vector<Step> steps = steps_of(choices, suite);
  const std::uint64_t appetite = mode / 5 % 4;
  const auto whole = run(steps, keys, 0, appetite);
  require(run(steps, keys, 1, appetite) == whole, "single bytes give the same items");
  require(run(steps, keys, 2 + mode, appetite) == whole, "any chunking gives the same items");
  return 0;
}

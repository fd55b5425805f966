#include "handshake/floor.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "ossl/error.h"

namespace tlstrata::handshake {
namespace {

Complaint complain_crypto(const Error& error, const Configuration& configuration) {
  Complaint complaint = complain(error, configuration.name, "see tlstrata doctor");
  complaint.what += " alone: " + ossl::reason(error.number);
  return complaint;
}

Checked<ossl::BareSignature> signature_of(const Configuration& configuration, std::uint32_t chain, ossl::KeyUsage usage,
                                          Identities& identities) {
  const auto identity = identities.of(configuration.certificate, chain, usage);
  if (!identity) {
    return std::unexpected(identity.error());
  }
  auto bare = ossl::BareSignature::create((*identity)->chain_pem, (*identity)->key_pem, (*identity)->root_pem);
  if (!bare) {
    return std::unexpected(complain_crypto(bare.error(), configuration));
  }
  return std::move(*bare);
}

}  // namespace

Checked<Floor> Floor::create(const Configuration& configuration, std::uint16_t group, Identities& identities) {
  Floor floor;
  floor.configuration_ = configuration;
  std::vector<std::uint16_t> groups = configuration.key_shares;
  groups.push_back(group);
  for (const std::uint16_t code : groups) {
    auto bare = ossl::BareGroup::create(code);
    if (!bare) {
      return std::unexpected(complain_crypto(bare.error(), configuration));
    }
    floor.shares_.push_back(std::move(*bare));
  }
  floor.agreed_ = std::move(floor.shares_.back());
  floor.shares_.pop_back();
  floor.retry_ = std::ranges::find(configuration.key_shares, group) == configuration.key_shares.end();
  if (configuration.resume) {
    return floor;
  }
  auto server = signature_of(configuration, configuration.chain, ossl::KeyUsage::server, identities);
  if (!server) {
    return std::unexpected(server.error());
  }
  floor.server_ = std::move(*server);
  if (configuration.mutual) {
    auto client = signature_of(configuration, 1, ossl::KeyUsage::client, identities);
    if (!client) {
      return std::unexpected(client.error());
    }
    floor.client_ = std::move(*client);
  }
  return floor;
}

Checked<FloorSample> Floor::sample() const {
  using ossl::Primitive;
  FloorSample sum{};
  Nanos& client = sum[at(ossl::Side::client)];
  Nanos& server = sum[at(ossl::Side::server)];
  ossl::PrimitiveTimes times{};
  const auto time = [&](Primitive which) { return times[static_cast<std::size_t>(which)]; };
  for (const ossl::BareGroup& share : shares_) {
    if (auto done = share.sample(times); !done) {
      return std::unexpected(complain_crypto(done.error(), configuration_));
    }
    client += time(Primitive::key_generation);
  }
  if (auto done = agreed_->sample(times); !done) {
    return std::unexpected(complain_crypto(done.error(), configuration_));
  }
  client += time(Primitive::agreement) + (retry_ ? time(Primitive::key_generation) : 0);
  server += time(Primitive::answer);
  for (const auto& [signature, signer, verifier, checks_chain] :
       {std::tuple(&server_, &server, &client, configuration_.verify), std::tuple(&client_, &client, &server, true)}) {
    if (!*signature) {
      continue;
    }
    if (auto done = (*signature)->sample(times); !done) {
      return std::unexpected(complain_crypto(done.error(), configuration_));
    }
    *signer += time(Primitive::sign);
    *verifier += time(Primitive::verify) + (checks_chain ? time(Primitive::chain) : 0);
  }
  return sum;
}

}  // namespace tlstrata::handshake

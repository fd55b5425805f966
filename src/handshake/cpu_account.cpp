#include "handshake/cpu_account.h"

#include <algorithm>
#include <numeric>

namespace tlstrata::handshake {
namespace {

constexpr std::array<std::string_view, part_count> names{"key_generation_1", "key_generation_2", "key_generation_3",
                                                         "key_generation_4", "encapsulation",    "key_agreement",
                                                         "key_coding",       "certificate",      "chain",
                                                         "signing",          "verification",     "signature_setup",
                                                         "finished",         "key_schedule",     "transcript",
                                                         "records",          "randomness",       "rest"};

constexpr std::array<std::string_view, part_count> titles{"key generation",
                                                          "key generation, 2nd share",
                                                          "key generation, 3rd share",
                                                          "key generation, 4th share",
                                                          "encapsulation",
                                                          "decapsulation or derivation",
                                                          "keys to and from bytes",
                                                          "certificates to and from DER",
                                                          "chain: build or verify",
                                                          "CertificateVerify: sign",
                                                          "CertificateVerify: verify",
                                                          "CertificateVerify: set-up",
                                                          "Finished",
                                                          "key schedule",
                                                          "transcript hash",
                                                          "record protection",
                                                          "random numbers",
                                                          "rest: state machine, memory"};

Parts parts_of(const CostSample& sample) {
  const ossl::PrimitiveCosts& costs = sample.costs;
  const auto detail = [&](ossl::Detail which) {
    return static_cast<double>(costs.detail_ns[static_cast<std::size_t>(which)]);
  };
  Parts parts{};
  const auto set = [&](Part part, double value_ns) { parts[static_cast<std::size_t>(part)] = value_ns; };
  for (std::size_t i = 0; i < ossl::PrimitiveCosts::most_key_generations; ++i) {
    parts[i] = static_cast<double>(costs.key_generation_ns[i]);
  }
  set(Part::encapsulation, static_cast<double>(costs.encapsulation_ns));
  set(Part::key_agreement, static_cast<double>(costs.key_agreement_ns));
  set(Part::chain, static_cast<double>(costs.chain_ns));
  set(Part::signing, static_cast<double>(costs.signing_ns));
  set(Part::verification, static_cast<double>(costs.signature_ns));
  set(Part::key_coding, detail(ossl::Detail::key_coding));
  set(Part::certificate, detail(ossl::Detail::certificate));
  set(Part::signature_setup, detail(ossl::Detail::signature_setup));
  set(Part::finished, detail(ossl::Detail::finished));
  set(Part::key_schedule, detail(ossl::Detail::key_schedule));
  set(Part::transcript, detail(ossl::Detail::transcript));
  set(Part::records, detail(ossl::Detail::records));
  set(Part::randomness, detail(ossl::Detail::randomness));
  set(Part::rest, static_cast<double>(sample.total_ns) - std::accumulate(parts.begin(), parts.end(), 0.0));
  return parts;
}

// [begin, end) of the middle half of n sorted values; all of fewer than four.
std::pair<std::size_t, std::size_t> middle_half(std::size_t n) {
  return n < 4 ? std::pair(std::size_t{0}, n) : std::pair(n / 4, n - n / 4);
}

}  // namespace

std::string_view part_name(Part part) {
  return names[static_cast<std::size_t>(part)];
}

std::string_view part_title(Part part) {
  return titles[static_cast<std::size_t>(part)];
}

std::optional<CpuAccount> cpu_account(std::span<const CostSample> samples) {
  if (samples.empty()) {
    return std::nullopt;
  }
  std::vector<std::size_t> order(samples.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return samples[i].total_ns; });
  const auto [begin, end] = middle_half(order.size());
  CpuAccount account;
  account.n = end - begin;
  for (std::size_t i = begin; i < end; ++i) {
    const CostSample& sample = samples[order[i]];
    const Parts parts = parts_of(sample);
    account.total_ns += static_cast<double>(sample.total_ns);
    account.brackets += sample.costs.brackets;
    std::ranges::transform(account.parts_ns, parts, account.parts_ns.begin(), std::plus<>());
  }
  const auto n = static_cast<double>(account.n);
  account.total_ns /= n;
  account.brackets /= n;
  for (double& part : account.parts_ns) {
    part /= n;
  }
  return account;
}

std::optional<double> middle_mean(std::vector<double> values) {
  if (values.empty()) {
    return std::nullopt;
  }
  std::ranges::sort(values);
  const auto [begin, end] = middle_half(values.size());
  return std::accumulate(values.begin() + static_cast<std::ptrdiff_t>(begin),
                         values.begin() + static_cast<std::ptrdiff_t>(end), 0.0) /
         static_cast<double>(end - begin);
}

}  // namespace tlstrata::handshake

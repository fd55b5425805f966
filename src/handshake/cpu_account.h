// Where a side's CPU goes: the calls that libssl makes to libcrypto, step by step, and the rest.
//
// In:        costs and totals of handshakes whose calls were bracketed (ossl/primitive_costs.h).
// Out:       for each side the mean of every part over the middle half of the handshakes, by their totals: parts and rest add
//            up to the mean total of the same handshakes, exactly but for rounding, and a disturbed handshake does not count.
// Units:     nanoseconds of CPU.
// Absence:   nullopt without handshakes.
// Threads:   pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/nanos.h"
#include "ossl/primitive_costs.h"

namespace tlstrata::handshake {

enum class Part : std::uint8_t {
  key_generation_1,
  key_generation_2,
  key_generation_3,
  key_generation_4,
  encapsulation,
  key_agreement,
  key_coding,
  certificate,
  chain,
  signing,
  verification,
  signature_setup,
  finished,
  key_schedule,
  transcript,
  records,
  randomness,
  rest,
};
inline constexpr std::size_t part_count = 18;

// As JSON has it: "key_generation_1".
std::string_view part_name(Part part);
// As people read it: "key generation (1st share)".
std::string_view part_title(Part part);

using Parts = std::array<double, part_count>;

struct CostSample {
  Nanos total_ns = 0;
  ossl::PrimitiveCosts costs;
};

struct CpuAccount {
  std::size_t n = 0;  // handshakes in the middle half
  double total_ns = 0;
  Parts parts_ns{};
  double brackets = 0;  // calls that were bracketed
};

std::optional<CpuAccount> cpu_account(std::span<const CostSample> samples);

// The mean of the middle half, by which CpuAccount::total_ns is compared with handshakes that were not bracketed.
std::optional<double> middle_mean(std::vector<double> values);

}  // namespace tlstrata::handshake

// Durations, sizes and rates as people write them, and figures as people read them.
//
// In/Out:  text to integers and back. Durations take ns us ms s m h ("100us", "1.5ms"), sizes take B, KB MB GB (powers
//          of 1000) and KiB MiB GiB ("4KiB"), rates are per second ("100", "2.5k"). A bare number has no unit: an error
//          for durations, bytes for sizes.
// Errors:  malformed for an unknown unit, a sign, or a value that does not fit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/nanos.h"
#include "base/result.h"

namespace tlstrata {

Result<Nanos> parse_duration(std::string_view text);
Result<std::uint64_t> parse_size(std::string_view text);
Result<double> parse_rate(std::string_view text);
// "5%", "0.5%": 0 to 100 %, as a share of 1.
Result<double> parse_share(std::string_view text);
// "256kbit", "20Mbit", "1.5Gbit": bits per second, from 1 kbit to 100 Gbit.
Result<double> parse_bit_rate(std::string_view text);

// Three significant digits and the unit that fits: "1.72 ms", "312 us".
std::string format_duration(Nanos duration_ns);
// "4 KiB" where it is a whole multiple, else "1.2 MB".
std::string format_size(std::uint64_t bytes);

}  // namespace tlstrata

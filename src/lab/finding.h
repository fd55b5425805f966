// What doctor found about one thing that `lab` needs or that disturbs a measurement.
//
// Ownership: owns its strings. Those that name files or words of other programs may be hostile.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tlstrata::lab {

enum class Verdict : std::uint8_t {
  ok,
  warn,     // works, but disturbs a measurement or narrows what can be done
  missing,  // is not there
};

// "ok", "warn", "missing"
std::string_view verdict_name(Verdict verdict);

struct Finding {
  std::string name;  // "netem": stable, for scripts
  Verdict verdict = Verdict::ok;
  bool required = false;  // `lab` can't run without it
  std::string state;      // what is: "2 cores, 2 usable"
  std::string meaning;    // what that means for a measurement; empty where all is well
  std::string remedy;     // what to do; empty where there is nothing to do
};

using Findings = std::vector<Finding>;

// Whether `lab` can run: nothing that it requires is missing.
bool can_run_lab(const Findings& findings);

}  // namespace tlstrata::lab

#include "lab/finding.h"

#include <algorithm>
#include <array>

namespace tlstrata::lab {

std::string_view verdict_name(Verdict verdict) {
  constexpr std::array<std::string_view, 3> names = {"ok", "warn", "missing"};
  return names.at(static_cast<std::size_t>(verdict));
}

bool can_run_lab(const Findings& findings) {
  return std::ranges::none_of(
      findings, [](const Finding& finding) { return finding.required && finding.verdict == Verdict::missing; });
}

}  // namespace tlstrata::lab

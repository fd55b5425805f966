#include "report/families.h"

#include <algorithm>

#include "base/units.h"

namespace tlstrata::report {

std::vector<Family> families_of(const Summary& summary) {
  std::vector<Family> families;
  Family alone;
  for (std::size_t base = 0; base < summary.cells.size(); ++base) {
    if (summary.cells[base].compared) {
      continue;
    }
    Family family{base, {base}, summary.cells[base].response_bytes, summary.cells[base].link};
    for (std::size_t i = 0; i < summary.cells.size(); ++i) {
      if (summary.cells[i].compared == base) {
        family.cells.push_back(i);
      }
    }
    if (family.cells.size() > 1 || summary.cells[base].baseline) {
      families.push_back(std::move(family));
    } else {
      alone.cells.push_back(base);
    }
  }
  if (!alone.cells.empty()) {
    families.push_back(std::move(alone));
  }
  return families;
}

std::string family_title(const Family& family) {
  if (!family.response_bytes) {
    return family.link;
  }
  return (*family.response_bytes == 0 ? std::string("empty") : format_size(*family.response_bytes)) + " responses" +
         (family.link.empty() ? "" : ", " + family.link);
}

std::string short_name(const Summary& summary, const Family& family, std::size_t cell) {
  const CellSummary& named = summary.cells[cell];
  const bool unique = std::none_of(family.cells.begin(), family.cells.end(), [&](std::size_t other) {
    return other != cell && summary.cells[other].offer == named.offer;
  });
  if (named.offer.empty() || !unique || !family.baseline) {
    return named.name.empty() ? "all rows" : named.name;
  }
  return named.offer;
}

}  // namespace tlstrata::report

#include "compare/survey.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/iana.h"
#include "report/transactions_csv.h"

namespace tlstrata::compare {
namespace {

class Surveyor {
 public:
  Surveyor(const Source& source, Survey& survey) : source_(source), survey_(survey) {}

  [[nodiscard]] bool wanted(const std::string& cell) const { return !source_.cell || *source_.cell == cell; }

  SurveyedCell& place(const std::string& name) {
    if (last_ < survey_.cells.size() && survey_.cells[last_].name == name) {
      return survey_.cells[last_];
    }
    const auto [known, is_new] = places_.try_emplace(name, survey_.cells.size());
    if (is_new) {
      survey_.cells.emplace_back().name = name;
    }
    last_ = known->second;
    return survey_.cells[last_];
  }

  void add(const Row& row) {
    SurveyedCell& cell = place(row.transaction.cell);
    ++cell.rows;
    if (row.transaction.outcome != strata::Outcome::complete) {
      return;
    }
    ++cell.complete;
    cell.without_block += row.transaction.block ? 0U : 1U;
    if (row.transaction.request <= 1) {
      ++cell.classes[class_of(row)];
    }
  }

 private:
  const Source& source_;
  Survey& survey_;
  std::map<std::string, std::size_t> places_;
  std::size_t last_ = 0;
};

Checked<void> read_folder(const Source& source, Survey& survey) {
  Checked<report::Manifest> manifest = report::read_manifest(source.path / "manifest.json");
  if (!manifest) {
    return std::unexpected(manifest.error());
  }
  survey.manifest = std::move(*manifest);
  if (std::filesystem::exists(source.path / "resources.csv")) {
    auto resources = report::read_resources_csv(source.path / "resources.csv");
    if (!resources) {
      return std::unexpected(resources.error());
    }
    survey.resources = std::move(*resources);
  }
  return {};
}

std::string listed(const std::vector<SurveyedCell>& cells) {
  std::string text;
  for (const SurveyedCell& cell : cells) {
    text += (text.empty() ? "" : ", ") + cell.name;
  }
  return text.empty() ? "none" : text;
}

}  // namespace

report::RowClass class_of(const Row& row) {
  const strata::Transaction& transaction = row.transaction;
  const auto& group = transaction.connection.group;
  return {.group = group ? group_name(*group) : row.group,
          .tls_version = report::tls_version_name(transaction.connection.tls_version),
          .boundary = std::string(strata::name(transaction.boundary)),
          .hrr = transaction.connection.hrr,
          .resumed = transaction.connection.resumed,
          .early_data = transaction.connection.early_data,
          .later_request = transaction.request > 1};
}

Checked<Survey> survey(const Source& source, const Columns& columns) {
  Survey result;
  if (source.is_folder) {
    if (const auto read = read_folder(source, result); !read) {
      return std::unexpected(read.error());
    }
  }
  Surveyor surveyor(source, result);
  if (result.manifest) {
    for (const report::ManifestCell& planned : result.manifest->cells) {
      SurveyedCell& cell = surveyor.place(planned.name);
      cell.offer = planned.groups;
      cell.response_bytes = planned.response_bytes;
    }
  }
  Checked<Rows> rows = Rows::open(source.rows().string(), columns);
  if (!rows) {
    return std::unexpected(rows.error());
  }
  for (const Field field : {Field::group, Field::hrr, Field::resumed}) {
    if (!rows->has(field)) {
      result.unknown.emplace_back(field_name(field));
    }
  }
  Row row;
  while (true) {
    const auto more = rows->next(row);
    if (!more) {
      return std::unexpected(more.error());
    }
    if (!*more) {
      break;
    }
    surveyor.add(row);
  }
  result.passed_over = rows->passed_over();
  if (source.cell) {
    const std::string all = listed(result.cells);
    std::erase_if(result.cells, [&](const SurveyedCell& cell) { return !surveyor.wanted(cell.name); });
    if (result.cells.empty()) {
      return std::unexpected(Complaint{fmt::format("no cell \"{}\"", *source.cell), source.path.string(),
                                       "name one of its cells: " + all, ExitCode::usage});
    }
  }
  std::erase_if(result.cells, [](const SurveyedCell& cell) { return cell.rows == 0; });
  return result;
}

}  // namespace tlstrata::compare

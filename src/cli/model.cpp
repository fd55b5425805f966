// `tlstrata model`: what a result folder's cells would take on other paths.
#include "model/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/units.h"
#include "cli/cli.h"
#include "lab/spec_links.h"
#include "report/escape.h"
#include "report/json.h"
#include "report/output_file.h"

namespace tlstrata::cli {
namespace {

constexpr const char* footer =
    "Says what the cells of a result folder would take on other paths: round trips, initial windows, rates and losses "
    "on\n"
    "top of what this machine was measured to need. The folder is a lab's without [link], whose own path is next to\n"
    "nothing. Without loss the five layers come from a formula, with loss percentiles of the total from a "
    "simulation.\n\n"
    "Examples:\n"
    "  tlstrata model results/quick-20260101T000000Z\n"
    "  tlstrata model results/quick-20260101T000000Z --path satellite --path rtt=80ms,loss=1%,down=20Mbit,up=5Mbit\n"
    "  tlstrata model results/certificates-20260101T000000Z --path continental --initcwnd 20 --json -\n"
    "  tlstrata model results/quick-20260101T000000Z --population paths.csv      columns rtt_ms,loss,weight\n";

constexpr std::uint64_t simulated = 20'000;         // transactions of a lossy path
constexpr std::uint64_t simulated_of_many = 1'000;  // of each path of a population
constexpr std::size_t most_paths_of_population = 100'000;
constexpr const char* path_remedy =
    "write lan, metro, continental, intercontinental, lte, satellite, lossy, metro-loss5 or intercontinental-loss20, "
    "or "
    "rtt=30ms,loss=1%,up=10Mbit,down=40Mbit";

struct ModelArguments {
  std::string folder;
  std::vector<std::string> paths;
  std::string population;
  std::uint32_t initcwnd = 10;
  std::uint32_t mss = 1448;
  std::uint64_t seed = 1;
  std::string json;
};

struct NamedPath {
  std::string name;
  model::Path path;
};

struct ModelledCell {
  std::string name;
  model::Measured measured;
};

Complaint wrong_path(const std::string& text) {
  return {"not a path", text, path_remedy, ExitCode::usage};
}

bool set_figure(std::string_view key, std::string_view value, model::Path& path) {
  if (key == "rtt") {
    const Result<Nanos> rtt = parse_duration(value);
    path.rtt_ns = rtt.value_or(0);
    return rtt && *rtt >= 0 && *rtt <= 60 * nanos_per_second;
  }
  double* const into = key == "loss" ? &path.loss : key == "up" ? &path.up_bits_per_s : &path.down_bits_per_s;
  const bool is_known = key == "loss" || key == "up" || key == "down";
  const Result<double> figure = key == "loss" ? parse_share(value) : parse_bit_rate(value);
  *into = figure.value_or(0);
  return is_known && figure;
}

Checked<NamedPath> path_of(const std::string& text, const ModelArguments& arguments) {
  NamedPath named{text, {}};
  named.path.initcwnd = arguments.initcwnd;
  named.path.mss_bytes = arguments.mss;
  const auto preset = std::ranges::find(lab::link_presets(), text, &lab::LinkPreset::name);
  if (preset != lab::link_presets().end()) {
    const testbed::LinkShape& shape = preset->shape;
    named.path.rtt_ns = shape.forward.delay_ns + shape.backward.delay_ns;
    named.path.loss = shape.forward.loss;
    named.path.up_bits_per_s = shape.forward.rate_bits_per_s;
    named.path.down_bits_per_s = shape.backward.rate_bits_per_s;
    return named;
  }
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view one = rest.substr(0, rest.find(','));
    const std::size_t equals = one.find('=');
    if (equals == std::string_view::npos || !set_figure(one.substr(0, equals), one.substr(equals + 1), named.path)) {
      return std::unexpected(wrong_path(text));
    }
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
  }
  return text.empty() ? std::unexpected(wrong_path(text)) : Checked<NamedPath>(named);
}

Checked<std::vector<NamedPath>> paths_of(const ModelArguments& arguments) {
  std::vector<std::string> texts = arguments.paths;
  if (texts.empty() && arguments.population.empty()) {
    for (const lab::LinkPreset& preset : lab::link_presets()) {
      texts.emplace_back(preset.name);
    }
  }
  std::vector<NamedPath> paths;
  for (const std::string& text : texts) {
    Checked<NamedPath> path = path_of(text, arguments);
    if (!path) {
      return std::unexpected(path.error());
    }
    paths.push_back(std::move(*path));
  }
  return paths;
}

// A path and how many of the population have it.
struct Weighted {
  model::Path path;
  double weight = 1;
};

Checked<std::vector<Weighted>> read_population(const ModelArguments& arguments) {
  const Checked<std::string> text = report::read_file(arguments.population, "give a CSV file with rtt_ms,loss,weight");
  if (!text) {
    return std::unexpected(text.error());
  }
  std::vector<Weighted> paths;
  std::string_view rest = *text;
  for (std::size_t line = 1; !rest.empty(); ++line) {
    const std::string_view row = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), row.size() + 1));
    if (line == 1 && row.starts_with("rtt_ms,loss,weight")) {
      continue;
    }
    std::array<double, 3> fields{};
    const char* at = row.data();
    const char* const end = row.data() + row.size();
    bool is_row = line > 1 && paths.size() < most_paths_of_population;
    for (std::size_t i = 0; i < fields.size() && is_row; ++i) {
      const auto [stop, status] = std::from_chars(at, end, fields[i]);
      is_row = status == std::errc{} && (i == 2 || (stop != end && *stop == ','));
      at = stop + (i == 2 ? 0 : 1);
    }
    is_row = is_row && (at == end || *at == '\r') && fields[0] >= 0 && fields[0] <= 60'000 && fields[1] >= 0 &&
             fields[1] <= 1 && fields[2] > 0 && fields[2] <= 1e12;
    if (!is_row) {
      return std::unexpected(Complaint{
          "not a population of paths", fmt::format("{}:{}", arguments.population, line),
          "write the header rtt_ms,loss,weight and rows such as 31.2,0.001,40: milliseconds, a share of 1, a weight"});
    }
    paths.push_back(
        {{static_cast<Nanos>(fields[0] * 1e6), fields[1], 0, 0, arguments.initcwnd, arguments.mss}, fields[2]});
  }
  return paths.empty() ? std::unexpected(Complaint{"no path in it", arguments.population, "write at least one row"})
                       : Checked<std::vector<Weighted>>(std::move(paths));
}

std::uint64_t bytes_of(const std::optional<double>& bytes) {
  return static_cast<std::uint64_t>(bytes.value_or(0));
}

Checked<std::vector<ModelledCell>> cells_of(const report::Results& results, const std::string& folder) {
  std::vector<ModelledCell> cells;
  for (const report::CellSummary& cell : results.summary.cells) {
    const report::ClassSummary* const main = cell.main();
    if (main == nullptr || main->measures[report::total_measure].n == 0) {
      continue;
    }
    if (!cell.link.empty()) {
      return std::unexpected(Complaint{"its cells were measured over a path already: " + cell.link, folder,
                                       "give the folder of a lab without [link]"});
    }
    ModelledCell modelled{cell.name, {}};
    for (std::size_t layer = 0; layer < model::layers; ++layer) {
      modelled.measured.local_ns[layer] = static_cast<Nanos>(main->measures[layer].p50.value);
    }
    modelled.measured.client_hello_bytes = bytes_of(main->client_hello_bytes);
    modelled.measured.server_flight_bytes = bytes_of(main->server_flight_bytes);
    const std::uint64_t client = bytes_of(main->client_handshake_bytes);
    modelled.measured.client_finish_bytes = client - std::min(client, modelled.measured.client_hello_bytes);
    modelled.measured.retried = main->rows.hrr;
    cells.push_back(std::move(modelled));
  }
  if (cells.empty()) {
    return std::unexpected(Complaint{"it has no complete transaction", folder, "give the folder of a lab run"});
  }
  return cells;
}

struct Percentiles {
  Nanos p50 = 0;
  Nanos p95 = 0;
  Nanos p99 = 0;
};

Percentiles percentiles(const std::vector<Nanos>& sorted) {
  const auto at = [&](std::size_t percent) {
    return sorted[std::min(sorted.size() - 1, sorted.size() * percent / 100)];
  };
  return {at(50), at(95), at(99)};
}

Percentiles over(const std::vector<Weighted>& population, const model::Measured& measured, std::uint64_t seed) {
  std::vector<std::pair<Nanos, double>> totals;
  double all = 0;
  for (std::size_t i = 0; i < population.size(); ++i) {
    const std::uint64_t n = population[i].path.loss > 0 ? simulated_of_many : 1;
    for (const Nanos one : model::simulate(measured, population[i].path, n, seed + i)) {
      totals.emplace_back(one, population[i].weight / static_cast<double>(n));
    }
    all += population[i].weight;
  }
  std::ranges::sort(totals);
  Percentiles found;
  double below = 0;
  for (const auto& [value, weight] : totals) {
    below += weight;
    for (const auto& [share, into] :
         {std::pair(0.5, &found.p50), std::pair(0.95, &found.p95), std::pair(0.99, &found.p99)}) {
      if (*into == 0 && below >= share * all) {
        *into = value;
      }
    }
  }
  return found;
}

report::Json percentiles_json(const Percentiles& found) {
  return {{"p50_ns", found.p50}, {"p95_ns", found.p95}, {"p99_ns", found.p99}};
}

report::Json prediction_json(const ModelledCell& cell, const NamedPath& path, std::uint64_t seed) {
  const model::LayerTimes times = model::predict(cell.measured, path.path);
  report::Json layers;
  for (std::size_t layer = 0; layer < model::layers; ++layer) {
    layers[std::string(report::measure_name(layer)) + "_ns"] = times[layer];
  }
  const std::uint32_t rounds =
      model::rounds(cell.measured.server_flight_bytes, path.path.initcwnd, path.path.mss_bytes);
  report::Json entry{{"cell", cell.name},
                     {"path", path.name},
                     {"rtt_ns", path.path.rtt_ns},
                     {"loss", path.path.loss},
                     {"server_flight_bytes", cell.measured.server_flight_bytes},
                     {"server_flight_rounds", rounds},
                     {"layers", std::move(layers)},
                     {"total_ns", model::total(times)}};
  entry["total_with_loss"] =
      path.path.loss > 0 ? percentiles_json(percentiles(model::simulate(cell.measured, path.path, simulated, seed)))
                         : report::Json(nullptr);
  return entry;
}

std::string text_table(const std::vector<ModelledCell>& cells, const std::vector<NamedPath>& paths,
                       const std::vector<Weighted>& population, std::uint64_t seed) {
  std::size_t width = 4;
  for (const ModelledCell& cell : cells) {
    width = std::max(width, for_terminal(cell.name).size());
  }
  std::string text;
  for (const NamedPath& path : paths) {
    text += fmt::format("{}: {} round trip{}\n", for_terminal(path.name), format_duration(path.path.rtt_ns),
                        path.path.loss > 0 ? fmt::format(", {:g} % lost", 100 * path.path.loss) : "");
    text += fmt::format("{:<{}}  {:>9}  {:>9}  {:>9}  {:>9}  {:>9}  {:>9}  rounds{}\n", "cell", width, "tcp", "to_tls",
                        "tls", "to_app", "response", "total", path.path.loss > 0 ? "  with loss p50, p95, p99" : "");
    for (const ModelledCell& cell : cells) {
      const model::LayerTimes times = model::predict(cell.measured, path.path);
      text += fmt::format("{:<{}}", for_terminal(cell.name), width);
      for (const Nanos time : times) {
        text += fmt::format("  {:>9}", format_duration(time));
      }
      text += fmt::format("  {:>9}  {:>6}", format_duration(model::total(times)),
                          model::rounds(cell.measured.server_flight_bytes, path.path.initcwnd, path.path.mss_bytes));
      if (path.path.loss > 0) {
        const Percentiles found = percentiles(model::simulate(cell.measured, path.path, simulated, seed));
        text += fmt::format("  {}, {}, {}", format_duration(found.p50), format_duration(found.p95),
                            format_duration(found.p99));
      }
      text += "\n";
    }
    text += "\n";
  }
  if (!population.empty()) {
    text += fmt::format("over {} paths: total p50, p95, p99\n", population.size());
    for (const ModelledCell& cell : cells) {
      const Percentiles found = over(population, cell.measured, seed);
      text += fmt::format("{:<{}}  {}, {}, {}\n", for_terminal(cell.name), width, format_duration(found.p50),
                          format_duration(found.p95), format_duration(found.p99));
    }
    text += "\n";
  }
  return text + "Computed from medians measured without a path; nothing here was measured on it.\n";
}

Checked<ExitCode> run_model(const ModelArguments& arguments) {
  const Checked<std::vector<NamedPath>> paths = paths_of(arguments);
  if (!paths) {
    return std::unexpected(paths.error());
  }
  std::vector<Weighted> population;
  if (!arguments.population.empty()) {
    Checked<std::vector<Weighted>> read = read_population(arguments);
    if (!read) {
      return std::unexpected(read.error());
    }
    population = std::move(*read);
  }
  const Checked<report::Results> results = report::read_results(arguments.folder);
  if (!results) {
    return std::unexpected(results.error());
  }
  const Checked<std::vector<ModelledCell>> cells = cells_of(*results, arguments.folder);
  if (!cells) {
    return std::unexpected(cells.error());
  }
  if (!arguments.json.empty()) {
    report::Json document = report::open_document("model");
    document["seed"] = arguments.seed;
    document["initcwnd"] = arguments.initcwnd;
    document["mss_bytes"] = arguments.mss;
    document["predictions"] = report::Json::array();
    document["population"] = report::Json::array();
    for (const ModelledCell& cell : *cells) {
      for (const NamedPath& path : *paths) {
        document["predictions"].push_back(prediction_json(cell, path, arguments.seed));
      }
      if (!population.empty()) {
        document["population"].push_back(
            {{"cell", cell.name}, {"total", percentiles_json(over(population, cell.measured, arguments.seed))}});
      }
    }
    if (auto written = report::write_json(arguments.json, document); !written) {
      return std::unexpected(written.error());
    }
  }
  if (arguments.json != "-") {
    fmt::print("{}", text_table(*cells, *paths, population, arguments.seed));
  }
  return ExitCode::fine;
}

}  // namespace

void add_model(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("model", "Says what measured cells would take on other paths");
  command->footer(footer);
  auto arguments = std::make_shared<ModelArguments>();
  command->add_option("DIR", arguments->folder, "a result folder of a lab without [link]")->required();
  command
      ->add_option("--path", arguments->paths,
                   "a preset, or rtt=30ms,loss=1%,up=10Mbit,down=40Mbit; repeatable [all presets]")
      ->type_name("PATH");
  command->add_option("--population", arguments->population, "CSV of rtt_ms,loss,weight: percentiles over all of them")
      ->type_name("FILE");
  command->add_option("--initcwnd", arguments->initcwnd, "the server's initial window, segments")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--mss", arguments->mss, "bytes of a segment")
      ->check(CLI::Range(64, 65'000))
      ->capture_default_str();
  command->add_option("--seed", arguments->seed, "of the simulation of losses")->capture_default_str();
  command->add_option("--json", arguments->json, "as JSON; - for standard output")->type_name("FILE");
  command->callback([arguments, &action] { action = [arguments] { return run_model(*arguments); }; });
}

}  // namespace tlstrata::cli

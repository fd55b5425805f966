#include "lab/spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include "base/units.h"
#include "lab/spec_axes.h"
#include "lab/spec_groups.h"
#include "lab/spec_links.h"
#include "lab/spec_table.h"

namespace tlstrata::lab {
namespace {

constexpr std::size_t most_responses = 64;
constexpr std::uint64_t most_blocks = 100'000;            // of all cells: one process, one capture and one row each
constexpr std::uint64_t most_transactions = 100'000'000;  // of all cells
constexpr std::uint64_t largest_response = 1ULL << 30U;   // what the origin serves
constexpr std::size_t longest_file = 1U << 20U;           // nobody writes a specification of a mebibyte

class SpecReader {
 public:
  SpecReader(const toml::table& root, std::string_view where) : problem_(where), root_(root, "", problem_) {}

  Checked<Spec> read() {
    read_name();
    read_groups(root_, spec_.groups);
    read_axes(root_, spec_);
    read_responses();
    root_.choice("arrivals", {"constant", "poisson"}, spec_.arrivals);
    root_.duration("block", 10 * nanos_per_millisecond, 24 * 3600 * nanos_per_second, spec_.block_ns);
    root_.integer("blocks", 1, 10'000, spec_.blocks);
    root_.integer("seed", 0, INT64_MAX, spec_.seed);
    read_tables();
    // A misspelt key is said before the key that is therefore missing.
    root_.finish();
    check_present();
    check_whole();
    if (problem_.first()) {
      return std::unexpected(*problem_.first());
    }
    return spec_;
  }

 private:
  void read_name() {
    root_.text("name", spec_.name);
    const toml::node* value = root_.node("name");
    if (value != nullptr && value->is_string() && !is_safe_name(spec_.name)) {
      root_.report(*value, fmt::format("'name' is '{}'", spec_.name),
                   "write 1 to 64 letters, digits, '-', '_', '.' or '+', a letter or digit first: it names a folder");
    }
  }

  void read_responses() {
    const toml::node* value = root_.node("responses");
    if (value == nullptr) {
      return;
    }
    const auto* array = value->as_array();
    if (array == nullptr || array->empty() || array->size() > most_responses) {
      root_.report(*value, fmt::format("'responses' is no list of 1 to {} sizes", most_responses),
                   R"(write responses = ["4KiB", "40KiB"])");
      return;
    }
    for (const toml::node& element : *array) {
      const auto* const word = element.as_string();
      Response response = Response::of_proxy();
      if (word == nullptr || word->get() != "direct") {
        const auto size = root_.size_of(element, "'responses'", 0, largest_response);
        if (!size) {
          continue;
        }
        response = *size;
      }
      // Cells are compared by the size of their responses: an empty one of the origin would meet the proxy's own.
      if (std::ranges::any_of(spec_.responses, [&](const Response& other) { return other.bytes == response.bytes; })) {
        root_.report(element, fmt::format("'responses' has {} twice", exact_size(response.bytes)), "drop one");
      }
      spec_.responses.push_back(response);
    }
  }

  void read_tables() {
    if (auto warmup = root_.table("warmup")) {
      warmup->integer("transactions", 0, 1'000'000, spec_.warmup_transactions);
      warmup->integer("per_block", 0, 10'000, spec_.warmup_per_block);
      warmup->finish();
    }
    if (auto proxy = root_.table("proxy")) {
      read_proxies(*proxy, spec_);
      proxy->text("groups", spec_.proxy_groups);
      if (const toml::node* const groups = proxy->node("groups")) {
        spec_.proxy_groups = spelled_out(*proxy, *groups, "proxy.groups", spec_.proxy_groups);
      }
      proxy->integer("workers", 1, 256, spec_.proxy_workers);
      proxy->boolean("keep_upstream", spec_.keep_upstream);
      proxy->finish();
    }
    if (auto origin = root_.table("origin")) {
      origin->integer("threads", 1, 256, spec_.origin_threads);
      origin->finish();
    }
    if (auto cores = root_.table("cores")) {
      read_cores(*cores, spec_);
      cores->finish();
    }
    if (auto network = root_.table("network")) {
      network->text("congestion_control", spec_.congestion_control);
      network->boolean("offloads", spec_.offloads);
      network->integer("mtu", 576, 65535, spec_.mtu);
      network->finish();
    }
    if (auto link = root_.table("link")) {
      read_link(*link, spec_);
      link->finish();
    }
    if (auto capture = root_.table("capture")) {
      capture->size("snaplen", 128, 262'144, spec_.snaplen);
      capture->size("buffer", 1U << 20U, 2047U << 20U, spec_.capture_buffer);
      capture->boolean("proxy", spec_.capture_proxy);
      capture->finish();
    }
    if (auto timeouts = root_.table("timeouts")) {
      constexpr Nanos least = nanos_per_millisecond;
      constexpr Nanos most = 3600 * nanos_per_second;
      timeouts->duration("connect", least, most, spec_.connect_timeout_ns);
      timeouts->duration("handshake", least, most, spec_.handshake_timeout_ns);
      timeouts->duration("response", least, most, spec_.response_timeout_ns);
      timeouts->finish();
    }
  }

  void check_present() {
    constexpr std::array needed{std::pair("name", R"(name = "quick")"),
                                std::pair("groups", R"(groups = ["X25519", "X25519MLKEM768"])"),
                                std::pair("responses", R"(responses = ["4KiB", "40KiB"])")};
    for (const auto& [key, example] : needed) {
      if (root_.node(key) == nullptr) {
        problem_.report(toml::source_region{{1, 1}, {1, 1}, nullptr}, fmt::format("'{}' is missing", key),
                        fmt::format("write {}", example));
      }
    }
  }

  // What single values can't show.
  void check_whole() {
    const double least = *std::ranges::min_element(spec_.rates);
    const double most = *std::ranges::max_element(spec_.rates);
    const double seconds = static_cast<double>(spec_.block_ns) / 1e9;
    if (least * seconds < 1) {
      whole("rate",
            fmt::format("a block has no transaction ({} per second for {})", least, format_duration(spec_.block_ns)),
            "raise 'rate' or lengthen 'block'");
    }
    const std::uint64_t blocks = spec_.blocks * spec_.cells();
    if (blocks > most_blocks) {
      whole("blocks", fmt::format("{} blocks in all", blocks), fmt::format("stay below {}", most_blocks));
    } else if (most * seconds * static_cast<double>(blocks) > static_cast<double>(most_transactions)) {
      whole("rate", fmt::format("{:.0f} transactions in all", most * seconds * static_cast<double>(blocks)),
            fmt::format("stay below {}", most_transactions));
    }
  }

  void whole(std::string_view key, std::string what, std::string remedy) {
    const toml::node* at = root_.node(key);
    problem_.report(at != nullptr ? at->source() : toml::source_region{{1, 1}, {1, 1}, nullptr},
                    fmt::format("'{}': {}", key, what), std::move(remedy));
  }

  SpecProblem problem_;
  SpecTable root_;
  Spec spec_;
};

}  // namespace

Checked<Spec> parse_spec(std::string_view text, std::string_view where) {
  try {
    const toml::table root = toml::parse(text);
    return SpecReader(root, where).read();
  } catch (const toml::parse_error& error) {
    return std::unexpected(Complaint{std::string(error.description()),
                                     fmt::format("{}:{}", where, error.source().begin.line),
                                     "see tlstrata lab --show-spec quick for the form"});
  }
}

Checked<SpecText> load_spec_text(const std::string& name_or_path) {
  for (const BuiltinSpec& spec : builtin_specs()) {
    if (spec.name == name_or_path) {
      return SpecText{std::string(spec.text), "built-in " + name_or_path};
    }
  }
  std::ifstream file(name_or_path, std::ios::binary);
  if (!file) {
    std::vector<std::string> names;
    for (const BuiltinSpec& spec : builtin_specs()) {
      names.emplace_back(spec.name);
    }
    return std::unexpected(
        complain_errno("cannot open the specification", name_or_path,
                       fmt::format("give a TOML file or a built-in one ({})", fmt::join(names, ", "))));
  }
  SpecText spec{"", name_or_path};
  std::string chunk(65536, '\0');
  while (file.read(chunk.data(), static_cast<std::streamsize>(chunk.size())) || file.gcount() > 0) {
    spec.text.append(chunk, 0, static_cast<std::size_t>(file.gcount()));
    if (spec.text.size() > longest_file) {
      return std::unexpected(Complaint{"the specification is longer than 1 MiB", name_or_path,
                                       "give a TOML file (tlstrata lab --show-spec quick shows one)"});
    }
  }
  if (file.bad()) {
    return std::unexpected(complain_errno("cannot read the specification", name_or_path, "give a readable TOML file"));
  }
  return spec;
}

Checked<void> Spec::scale_time(double factor) {
  const double scaled_ns = static_cast<double>(block_ns) * factor;
  const double least = *std::ranges::min_element(rates);
  if (!(factor > 0) || least * scaled_ns / 1e9 < 1 || scaled_ns > 24.0 * 3600 * 1e9) {
    return std::unexpected(Complaint{
        fmt::format("a block of {} cannot be scaled so, at {} per second", format_duration(block_ns), least),
        fmt::format("--scale {}", factor), "take a factor that leaves each block a transaction", ExitCode::usage});
  }
  block_ns = static_cast<Nanos>(scaled_ns);
  return {};
}

std::string response_name(const Response& response) {
  return response.direct ? "direct" : exact_size(response.bytes);
}

std::string exact_size(std::uint64_t bytes) {
  constexpr std::uint64_t kib = 1024;
  if (bytes != 0 && bytes % (kib * kib) == 0) {
    return fmt::format("{}MiB", bytes / (kib * kib));
  }
  if (bytes != 0 && bytes % kib == 0) {
    return fmt::format("{}KiB", bytes / kib);
  }
  if (bytes != 0 && bytes % 1'000'000 == 0) {
    return fmt::format("{}MB", bytes / 1'000'000);
  }
  if (bytes >= 10'000 && bytes % 1000 == 0) {
    return fmt::format("{}KB", bytes / 1000);
  }
  return fmt::format("{}B", bytes);
}

}  // namespace tlstrata::lab

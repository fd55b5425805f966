#include "lab/spec_axes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/units.h"
#include "lab/spec_groups.h"
#include "ossl/certificate.h"

namespace tlstrata::lab {
namespace {

constexpr std::size_t most_of_a_kind = 64;
constexpr std::uint32_t longest_chain = 8;
constexpr int most_cores = 1024;
constexpr Nanos longest_injection_ns = nanos_per_second;

constexpr std::array place_names{std::pair(Place::nowhere, std::string_view("nowhere")),
                                 std::pair(Place::before_hello, std::string_view("before_hello")),
                                 std::pair(Place::before_finished, std::string_view("before_finished")),
                                 std::pair(Place::before_request, std::string_view("before_request")),
                                 std::pair(Place::before_response, std::string_view("before_response"))};

// Calls `read` for the value, or for each element where it is a list. `into` keeps its default where the key is absent;
// each element's label is to be unlike the others'.
template <typename T, typename Read, typename Label>
void read_one_or_many(SpecTable& table, std::string_view key, std::vector<T>& into, Read read, Label label) {
  const toml::node* value = table.node(key);
  if (value == nullptr) {
    return;
  }
  into.clear();
  if (const auto* array = value->as_array()) {
    for (const toml::node& element : *array) {
      read(element);
    }
  } else {
    read(*value);
  }
  if (into.empty() || into.size() > most_of_a_kind) {
    table.report(*value, fmt::format("{} has {} entries", table.named(key), into.size()),
                 fmt::format("write 1 to {}", most_of_a_kind));
    into.resize(1);
  }
  for (std::size_t i = 0; i < into.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (label(into[i]) == label(into[j])) {
        table.report(*value, fmt::format("{} has '{}' twice", table.named(key), label(into[i])), "drop one");
      }
    }
  }
}

std::string text_of(SpecTable& table, const toml::node& value, std::string_view key, const char* remedy) {
  if (const auto* string = value.as_string()) {
    return string->get();
  }
  table.report(value, fmt::format("{} has an entry that is no string", table.named(key)), remedy);
  return {};
}

void read_rates(SpecTable& root, Spec& spec) {
  const auto read = [&](const toml::node& value) {
    if (const auto rate = root.rate_of(value, root.named("rate"), 0.001, 1e6)) {
      spec.rates.push_back(*rate);
    }
  };
  read_one_or_many(root, "rate", spec.rates, read, [](double rate) { return fmt::format("{}", rate); });
}

void check_certificate(SpecTable& root, const toml::node& at, const CertificateChoice& choice) {
  if (ossl::key_kind(choice.kind)) {
    return;
  }
  std::vector<std::string_view> names;
  for (const ossl::KeyKind kind : ossl::all_key_kinds) {
    names.push_back(ossl::key_kind_name(kind));
  }
  root.report(at, fmt::format("'certificate' has no kind '{}'", choice.kind),
              fmt::format("write one of: {}", fmt::join(names, ", ")));
}

void read_certificates(SpecTable& root, Spec& spec) {
  const auto read = [&](const toml::node& value) {
    CertificateChoice choice;
    choice.label.clear();
    if (const auto* table = value.as_table()) {
      SpecTable reader(*table, "certificate.", root.problem());
      reader.text("kind", choice.kind);
      reader.integer("chain", 1, longest_chain, choice.chain);
      reader.text("label", choice.label);
      reader.finish();
      if (!choice.label.empty() && !is_safe_name(choice.label)) {
        root.report(value, fmt::format("'certificate.label' is '{}'", choice.label),
                    "write 1 to 64 letters, digits, '-', '_', '.' or '+': it names files");
      }
    } else {
      choice.kind = text_of(root, value, "certificate", R"(write "ecdsa-p256" or { kind = "rsa-2048", chain = 2 })");
    }
    check_certificate(root, value, choice);
    if (choice.label.empty()) {
      choice.label = choice.kind + (choice.chain > 1 ? fmt::format("-chain{}", choice.chain) : "");
    }
    spec.certificates.push_back(std::move(choice));
  };
  read_one_or_many(root, "certificate", spec.certificates, read, [](const CertificateChoice& c) { return c.label; });
}

// "proxy", "reencrypt", or { reencrypt = "X25519MLKEM768" } with the groups of the proxy's own offer.
void read_topology(SpecTable& root, Spec& spec) {
  constexpr const char* remedy = R"(write "proxy", "reencrypt" or { reencrypt = "X25519MLKEM768" })";
  const auto read = [&](const toml::node& value) {
    UpstreamChoice choice;
    if (const auto* table = value.as_table()) {
      SpecTable reader(*table, "topology.", root.problem());
      reader.text("reencrypt", choice.groups);
      reader.finish();
      choice.tls = true;
      choice.groups = spelled_out(root, value, "topology.reencrypt", choice.groups);
      choice.label = "reencrypt-" + label_of(choice.groups);
    } else {
      choice.label = text_of(root, value, "topology", remedy);
      choice.tls = choice.label == "reencrypt";
      choice.groups = choice.tls ? "X25519" : "";
      if (!choice.tls && choice.label != "proxy") {
        root.report(value, fmt::format("'topology' has no choice '{}'", choice.label),
                    choice.label == "direct" ? R"(write responses = ["direct"]: the proxy answers by itself)" : remedy);
      }
    }
    spec.upstreams.push_back(std::move(choice));
  };
  read_one_or_many(root, "topology", spec.upstreams, read, [](const UpstreamChoice& c) { return c.label; });
}

// "before_hello=cpu:1ms"; std::nullopt: not of this form.
std::optional<Injection> parse_injection(std::string_view text) {
  Injection injection;
  if (text == "none") {
    return injection;
  }
  const std::size_t equals = text.find('=');
  const std::size_t colon = text.find(':');
  if (equals == std::string_view::npos || colon == std::string_view::npos || colon < equals) {
    return std::nullopt;
  }
  const std::string_view how = text.substr(equals + 1, colon - equals - 1);
  const auto place =
      std::ranges::find(place_names, text.substr(0, equals), &std::pair<Place, std::string_view>::second);
  const Result<Nanos> delay = parse_duration(text.substr(colon + 1));
  if (place == place_names.end() || place->first == Place::nowhere || (how != "cpu" && how != "sleep") || !delay ||
      *delay > longest_injection_ns) {
    return std::nullopt;
  }
  injection = {place->first, how == "cpu", *delay, ""};
  injection.label = fmt::format("{}-{}-{}", text.substr(0, equals), how, text.substr(colon + 1));
  return injection;
}

void read_injections(SpecTable& root, Spec& spec) {
  const auto read = [&](const toml::node& value) {
    constexpr const char* remedy =
        R"(write "none" or "before_hello=cpu:1ms", up to a second; places: before_hello, before_finished, before_request (cpu or sleep), before_response (sleep))";
    const std::string text = text_of(root, value, "inject", remedy);
    const auto injection = parse_injection(text);
    if (!injection || (injection->place == Place::before_response && injection->cpu)) {
      root.report(value, fmt::format("'inject' has no choice '{}'", text), remedy);
    }
    spec.injections.push_back(injection.value_or(Injection{}));
  };
  read_one_or_many(root, "inject", spec.injections, read, [](const Injection& i) { return i.label; });
}

// "10%" of one core.
void read_client_cpu(SpecTable& root, Spec& spec) {
  std::string text;
  root.text("client_cpu", text);
  if (text.empty()) {
    return;
  }
  const Result<double> percent =
      text.ends_with('%') ? parse_rate(std::string_view(text).substr(0, text.size() - 1)) : Result<double>(0.0);
  if (!percent || *percent < 1 || *percent > 100) {
    root.report(*root.node("client_cpu"), fmt::format("'client_cpu' is '{}'", text),
                "write \"1%\" to \"100%\" of one core");
    return;
  }
  spec.client_cpu = *percent / 100;
}

}  // namespace

std::string_view place_name(Place place) {
  return place_names.at(static_cast<std::size_t>(place)).second;
}

void read_axes(SpecTable& root, Spec& spec) {
  read_rates(root, spec);
  read_certificates(root, spec);
  read_topology(root, spec);
  read_injections(root, spec);
  read_client_cpu(root, spec);
}

void read_proxies(SpecTable& proxy, Spec& spec) {
  const auto read = [&](const toml::node& value) {
    constexpr std::array<std::string_view, 3> known{"nginx", "haproxy", "builtin"};
    const std::string name = text_of(proxy, value, "name", "write nginx, haproxy or builtin");
    if (std::ranges::find(known, name) == known.end()) {
      proxy.report(value, fmt::format("'proxy.name' has no choice '{}'", name),
                   "write one of: nginx, haproxy, builtin");
    }
    spec.proxies.push_back(name);
  };
  read_one_or_many(proxy, "name", spec.proxies, read, [](const std::string& name) { return name; });
}

void read_cores(SpecTable& cores, Spec& spec) {
  for (const auto& [key, into] : {std::pair<std::string_view, Cores*>{"client", &spec.client_cores},
                                  {"proxy", &spec.proxy_cores},
                                  {"origin", &spec.origin_cores}}) {
    const auto read = [&](const toml::node& value) {
      const auto* number = value.as_integer();
      if (number == nullptr || number->get() < 0 || number->get() >= most_cores) {
        cores.report(value, fmt::format("{} has an entry that is no core", cores.named(key)),
                     fmt::format("write numbers of cores, as {} = [0, 1]", key));
        return;
      }
      into->push_back(static_cast<int>(number->get()));
    };
    read_one_or_many(cores, key, *into, read, [](int core) { return core; });
  }
}

}  // namespace tlstrata::lab

#include "lab/spec_links.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"

namespace tlstrata::lab {
namespace {

using testbed::LinkDirection;
using testbed::LinkShape;

constexpr Nanos longest_rtt_ns = 60 * nanos_per_second;
constexpr std::size_t most_links = 64;

LinkShape access_link(Nanos rtt_ns, Nanos jitter_ns, double loss, double up_bits, double down_bits) {
  LinkShape shape = testbed::symmetric_link(rtt_ns, loss);
  shape.forward.jitter_ns = shape.backward.jitter_ns = jitter_ns;
  shape.forward.rate_bits_per_s = up_bits;
  shape.backward.rate_bits_per_s = down_bits;
  return shape;
}

LinkShape bursty_link(Nanos rtt_ns, double loss, double burst) {
  LinkShape shape = testbed::symmetric_link(rtt_ns, loss);
  shape.forward.loss_burst = shape.backward.loss_burst = burst;
  return shape;
}

class LinkReader {
 public:
  LinkReader(SpecTable& link, Spec& spec) : link_(link), spec_(spec) {}

  void read() {
    std::vector<LinkChoice> links = presets();
    if (links.empty()) {
      links = from_figures();
    }
    const std::vector<std::uint32_t> windows = initial_windows();
    spec_.links.clear();
    for (const LinkChoice& link : links) {
      for (const std::uint32_t window : windows) {
        LinkChoice choice = link;
        choice.initcwnd = window;
        if (windows.size() > 1) {
          choice.label += fmt::format("-iw{}", window);
        }
        spec_.links.push_back(std::move(choice));
      }
    }
    check();
  }

 private:
  // Each entry of a key that is a string or a list of strings; empty where the key is absent.
  std::vector<std::pair<std::string, const toml::node*>> texts(std::string_view key) {
    std::vector<std::pair<std::string, const toml::node*>> found;
    const toml::node* const value = link_.node(key);
    if (value == nullptr) {
      return found;
    }
    const auto add = [&](const toml::node& node) {
      if (const auto* string = node.as_string()) {
        found.emplace_back(string->get(), &node);
      } else {
        link_.report(node, fmt::format("{} has an entry that is no string", link_.named(key)), R"(write it in quotes)");
      }
    };
    if (const auto* array = value->as_array()) {
      for (const toml::node& element : *array) {
        add(element);
      }
    } else {
      add(*value);
    }
    return found;
  }

  std::vector<LinkChoice> presets() {
    std::vector<LinkChoice> links;
    for (const auto& [name, node] : texts("preset")) {
      const auto known = std::ranges::find(link_presets(), name, &LinkPreset::name);
      if (known == link_presets().end()) {
        std::vector<std::string_view> names;
        for (const LinkPreset& preset : link_presets()) {
          names.push_back(preset.name);
        }
        link_.report(*node, fmt::format("{} has no choice '{}'", link_.named("preset"), name),
                     fmt::format("write one of: {}", fmt::join(names, ", ")));
        continue;
      }
      links.push_back({true, known->shape, 0, name});
    }
    for (const char* key :
         {"rtt", "loss", "jitter", "loss_burst", "reorder", "duplicate", "rate", "rate_up", "rate_down", "queue"}) {
      if (const toml::node* const other = links.empty() ? nullptr : link_.node(key)) {
        link_.report(*other, fmt::format("{} beside a preset", link_.named(key)), "write either a preset or figures");
      }
    }
    return links;
  }

  std::vector<LinkChoice> from_figures() {
    const LinkDirection both = common();
    LinkShape shape{both, both};
    rate("rate_up", shape.forward.rate_bits_per_s);
    rate("rate_down", shape.backward.rate_bits_per_s);
    const auto rtts = texts("rtt");
    const auto losses = texts("loss");
    std::vector<LinkChoice> links;
    for (std::size_t r = 0; r < std::max<std::size_t>(1, rtts.size()); ++r) {
      for (std::size_t l = 0; l < std::max<std::size_t>(1, losses.size()); ++l) {
        LinkChoice link{false, shape, 0, ""};
        std::vector<std::string> label;
        if (!rtts.empty()) {
          set_rtt(rtts[r].first, *rtts[r].second, link.shape);
          label.push_back(rtts[r].first);
        }
        if (!losses.empty()) {
          set_loss(losses[l].first, *losses[l].second, link.shape);
          label.push_back(losses[l].first.substr(0, losses[l].first.find('%')) + "pct");
        }
        link.label = label.empty() ? "link" : fmt::format("{}", fmt::join(label, "-"));
        link.emulated = link.shape != LinkShape{} || !label.empty();
        links.push_back(std::move(link));
      }
    }
    return links;
  }

  // What both directions have alike.
  LinkDirection common() {
    LinkDirection both;
    link_.duration("jitter", 0, longest_rtt_ns, both.jitter_ns);
    share("reorder", both.reorder);
    share("duplicate", both.duplicate);
    rate("rate", both.rate_bits_per_s);
    link_.integer("queue", 1, 1'000'000, both.queue_packets);
    std::uint32_t burst = 1;
    link_.integer("loss_burst", 1, 1000, burst);
    both.loss_burst = burst;
    return both;
  }

  void set_rtt(const std::string& text, const toml::node& node, LinkShape& shape) {
    const Result<Nanos> rtt = parse_duration(text);
    if (!rtt || *rtt < 0 || *rtt > longest_rtt_ns) {
      link_.report(node, fmt::format("{} has '{}'", link_.named("rtt"), text), R"(write 0ms to 60s, as rtt = "30ms")");
      return;
    }
    shape.forward.delay_ns = *rtt / 2;
    shape.backward.delay_ns = *rtt - *rtt / 2;
  }

  void set_loss(const std::string& text, const toml::node& node, LinkShape& shape) {
    const Result<double> loss = parse_share(text);
    if (!loss) {
      link_.report(node, fmt::format("{} has '{}'", link_.named("loss"), text), R"(write 0% to 100%, as loss = "1%")");
      return;
    }
    shape.forward.loss = shape.backward.loss = *loss;
  }

  void share(std::string_view key, double& into) {
    std::string text;
    link_.text(key, text);
    if (text.empty()) {
      return;
    }
    const Result<double> value = parse_share(text);
    if (!value) {
      link_.report(*link_.node(key), fmt::format("{} is '{}'", link_.named(key), text), "write 0% to 100%");
    }
    into = value.value_or(0);
  }

  void rate(std::string_view key, double& into) {
    std::string text;
    link_.text(key, text);
    if (text.empty()) {
      return;
    }
    const Result<double> value = parse_bit_rate(text);
    if (!value) {
      link_.report(*link_.node(key), fmt::format("{} is '{}'", link_.named(key), text),
                   R"(write 1kbit to 100Gbit, as rate = "20Mbit")");
    }
    into = value.value_or(0);
  }

  std::vector<std::uint32_t> initial_windows() {
    std::vector<std::uint32_t> windows;
    const toml::node* const value = link_.node("initcwnd");
    const auto add = [&](const toml::node& node) {
      const auto* const number = node.as_integer();
      if (number == nullptr || number->get() < 1 || number->get() > 1000) {
        link_.report(node, fmt::format("{} has an entry that is no window", link_.named("initcwnd")),
                     "write 1 to 1000 segments, as initcwnd = [10, 20]");
        return;
      }
      windows.push_back(static_cast<std::uint32_t>(number->get()));
    };
    if (value != nullptr && value->as_array() != nullptr) {
      for (const toml::node& element : *value->as_array()) {
        add(element);
      }
    } else if (value != nullptr) {
      add(*value);
    }
    return windows.empty() ? std::vector<std::uint32_t>{0} : windows;
  }

  void check() {
    if (spec_.links.size() > most_links) {
      spec_.links.resize(most_links);
      link_.report(*any(), fmt::format("{} links in all", spec_.links.size()),
                   fmt::format("stay within {}", most_links));
    }
    for (std::size_t i = 0; i < spec_.links.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (spec_.links[i].label == spec_.links[j].label) {
          link_.report(*any(), fmt::format("two links are '{}'", spec_.links[i].label), "drop one");
        }
      }
    }
  }

  const toml::node* any() {
    for (const char* key : {"preset", "rtt", "loss", "initcwnd"}) {
      if (const toml::node* const node = link_.node(key)) {
        return node;
      }
    }
    return nullptr;
  }

  SpecTable& link_;
  Spec& spec_;
};

}  // namespace

std::span<const LinkPreset> link_presets() {
  constexpr Nanos us = nanos_per_microsecond;
  constexpr Nanos ms = nanos_per_millisecond;
  constexpr std::string_view paquin =
      "round trip as measured between data centres by Paquin, Stebila and Tamvada 2020, section 4";
  static const std::array presets{
      LinkPreset{"lan", testbed::symmetric_link(500 * us), "ours: hosts of one site"},
      LinkPreset{"metro", testbed::symmetric_link(5'600 * us), paquin},
      LinkPreset{"continental", testbed::symmetric_link(31'200 * us), paquin},
      LinkPreset{"intercontinental", testbed::symmetric_link(195'700 * us), paquin},
      LinkPreset{"lte", access_link(50 * ms, 5 * ms, 0.001, 10e6, 40e6), "ours: a fair mobile connection"},
      LinkPreset{"satellite", access_link(560 * ms, 5 * ms, 0.001, 3e6, 25e6),
                 "two hops of 280 ms, RFC 2488 section 2; rates ours"},
      LinkPreset{"metro-loss5", testbed::symmetric_link(5'600 * us, 0.05), "metro with 5 % lost, as in the same study"},
      LinkPreset{"intercontinental-loss20", testbed::symmetric_link(195'700 * us, 0.2),
                 "intercontinental with 20 % lost, as in the same study"},
      LinkPreset{"lossy", bursty_link(31'200 * us, 0.05, 2), "ours: the continental path, 5 % lost, two at a time"},
  };
  return presets;
}

void read_link(SpecTable& link, Spec& spec) {
  LinkReader(link, spec).read();
}

}  // namespace tlstrata::lab

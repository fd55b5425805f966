#include "lab/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

namespace tlstrata::lab {
namespace {

// Uniform in [0, bound). std::uniform_int_distribution may differ from one standard library to the next; this does not.
std::size_t below(std::mt19937_64& random, std::size_t bound) {
  const std::uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
  std::uint64_t drawn = random();
  while (drawn >= limit) {
    drawn = random();
  }
  return drawn % bound;
}

// What is in a cell's name between group and response: only what there is more than one of.
std::string middle_of(const Spec& spec, const ServerChoice& server, double rate, const Injection& injection,
                      const LinkChoice& link) {
  std::string middle;
  const auto add = [&middle](bool differs, const std::string& label) { middle += differs ? "-" + label : ""; };
  add(spec.proxies.size() > 1, server.proxy);
  add(spec.certificates.size() > 1, server.certificate.label);
  add(spec.upstreams.size() > 1, server.upstream.label);
  add(spec.rates.size() > 1, fmt::format("{}ps", rate));
  add(spec.injections.size() > 1, injection.label);
  add(spec.links.size() > 1, link.label);
  return middle;
}

void add_cells(const Spec& spec, const ServerChoice& server, const Response& response, const LinkChoice& link,
               Plan& plan) {
  const auto found = std::ranges::find(plan.servers, server);
  const auto index = static_cast<std::size_t>(found - plan.servers.begin());
  if (found == plan.servers.end()) {
    plan.servers.push_back(server);
  }
  for (const double rate : spec.rates) {
    for (const Injection& injection : spec.injections) {
      for (const GroupChoice& choice : spec.groups) {
        const bool first =
            plan.cells.empty() || plan.cells.back().response != response || plan.cells.back().link != link;
        const std::string name =
            choice.label + middle_of(spec, server, rate, injection, link) + "-" + response_name(response);
        const std::string base = first ? name : plan.cells.back().compared_with;
        plan.cells.push_back(
            Cell{name, choice.offer, choice.key_shares, response, first, index, rate, injection, link, base});
      }
    }
  }
}

}  // namespace

Plan make_plan(const Spec& spec) {
  Plan plan;
  for (const Response& response : spec.responses) {
    for (const LinkChoice& link : spec.links) {
      for (const std::string& proxy : spec.proxies) {
        for (const CertificateChoice& certificate : spec.certificates) {
          for (const UpstreamChoice& upstream : spec.upstreams) {
            add_cells(spec, {proxy, certificate, upstream}, response, link, plan);
          }
        }
      }
    }
  }
  std::mt19937_64 random(spec.seed);
  std::vector<std::size_t> round(plan.cells.size());
  for (std::uint32_t block = 0; block < spec.blocks; ++block) {
    std::iota(round.begin(), round.end(), std::size_t{0});
    for (std::size_t left = round.size(); left > 1; --left) {
      std::swap(round[left - 1], round[below(random, left)]);
    }
    for (const std::size_t cell : round) {
      // Seeds below 2^53: every reader of JSON keeps those whole.
      plan.blocks.push_back(PlannedBlock{cell, block, static_cast<std::uint32_t>(plan.blocks.size()), random() >> 11U});
    }
  }
  return plan;
}

}  // namespace tlstrata::lab

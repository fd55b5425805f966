// What an experiment is: the specification that `lab` runs, from TOML.
//
// In:        text of a TOML file (specs/quick.toml shows every key and its default).
// Out:       a Spec whose every value is inside its limits.
// Units:     durations in nanoseconds, sizes in bytes, rates per second.
// Ownership: Spec owns all it holds.
// Errors:    Complaint with "file:line" and the key: unknown key (with the nearest known one), wrong type or unit, a
//            value outside its limits, two cells of the same name.
// Source:    TOML 1.0 (toml.io/en/v1.0.0); group lists as design.md section 3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/complaint.h"
#include "base/nanos.h"
#include "testbed/link_model.h"

namespace tlstrata::lab {

// One configuration of key exchange.
struct GroupChoice {
  std::string offer;       // names joined with ':', as --groups takes one offer
  std::string key_shares;  // names joined with ':'; empty: the offer's first group alone
  std::string label;       // first part of its cells' names; safe in file names
};

// What is asked for.
struct Response {
  std::uint64_t bytes = 0;  // of the body, by the origin
  bool direct = false;      // the proxy answers by itself, 200 without a body

  Response() = default;
  Response(std::uint64_t body_bytes)
      : bytes(body_bytes) {}  // NOLINT(google-explicit-constructor): a size is a response
  static Response of_proxy() {
    Response response;
    response.direct = true;
    return response;
  }
  friend bool operator==(const Response&, const Response&) = default;
};

// What the proxy proves itself with.
struct CertificateChoice {
  std::string kind = "ecdsa-p256";  // of its key and of the keys that vouch for it, as ossl::key_kind_name
  std::uint32_t chain = 1;          // certificates that it sends: its own and intermediate ones; the root is not sent
  std::string label = "ecdsa-p256";
  friend bool operator==(const CertificateChoice&, const CertificateChoice&) = default;
};

// What is between proxy and origin.
struct UpstreamChoice {
  bool tls = false;    // the proxy encrypts anew
  std::string groups;  // offered by the proxy as a client, joined with ':'; empty without TLS
  std::string label = "proxy";
  friend bool operator==(const UpstreamChoice&, const UpstreamChoice&) = default;
};

// A known delay that is put into every transaction, to see that its layer shows it.
enum class Place : std::uint8_t { nowhere, before_hello, before_finished, before_request, before_response };
struct Injection {
  Place place = Place::nowhere;  // the last is the origin's, the others are the client's
  bool cpu = false;              // it computes; else it sleeps
  Nanos delay_ns = 0;
  std::string label = "none";
  friend bool operator==(const Injection&, const Injection&) = default;
};
// "before_hello", as `load --inject` spells it; "nowhere".
std::string_view place_name(Place place);

// What lies between client and proxy.
struct LinkChoice {
  bool emulated = false;  // by testbed::Relay; else a veth pair, as quick as the kernel is
  testbed::LinkShape shape = {};
  std::uint32_t initcwnd = 0;  // initial congestion window of both sides, in segments; 0: the kernel's (10)
  std::string label = "none";
  friend bool operator==(const LinkChoice&, const LinkChoice&) = default;
};

// Cores that a component may use; empty: all.
using Cores = std::vector<int>;

// The lists multiply: each combination is a cell. One of a kind is not in the cells' names.
struct Spec {
  std::string name;                                    // safe in file names
  std::vector<GroupChoice> groups;                     // at least one; the first is the baseline
  std::vector<Response> responses;                     // all different
  std::vector<double> rates = {100};                   // transactions started per second in a block
  std::string arrivals = "constant";                   // or "poisson"
  Nanos block_ns = nanos_per_second;                   // length of a block's schedule
  std::uint32_t blocks = 10;                           // per cell
  std::uint64_t seed = 1;                              // of the blocks' order and of poisson arrivals
  std::vector<CertificateChoice> certificates = {{}};  // the proxy's
  std::vector<UpstreamChoice> upstreams = {{}};
  std::vector<Injection> injections = {{}};
  std::vector<LinkChoice> links = {{}};
  double client_cpu = 1;                         // of one core; 1: no quota
  std::uint32_t warmup_transactions = 60;        // before the first block, over all cells
  std::uint32_t warmup_per_block = 2;            // in each block's client before its capture
  std::vector<std::string> proxies = {"nginx"};  // or "haproxy", "builtin"
  std::string proxy_groups;                      // in its order of preference; empty: those of all offers
  std::uint32_t proxy_workers = 1;
  std::uint32_t origin_threads = 1;
  bool keep_upstream = true;  // connections between proxy and origin serve many requests
  Cores client_cores;
  Cores proxy_cores;
  Cores origin_cores;
  std::string congestion_control;            // empty: the kernel's default
  bool offloads = false;                     // segmentation by the (virtual) card
  std::uint32_t mtu = 1500;                  // of both links
  std::uint64_t snaplen = 262144;            // bytes kept of each frame
  std::uint64_t capture_buffer = 134217728;  // the kernel's ring
  bool capture_proxy = true;                 // at the proxy's interfaces too
  Nanos connect_timeout_ns = 5 * nanos_per_second;
  Nanos handshake_timeout_ns = 5 * nanos_per_second;
  Nanos response_timeout_ns = 10 * nanos_per_second;

  [[nodiscard]] std::size_t cells() const {
    return groups.size() * responses.size() * rates.size() * certificates.size() * upstreams.size() *
           injections.size() * proxies.size() * links.size();
  }
  // Shorter blocks: what takes five minutes takes six seconds with 0.02. Errors: a block would have no transaction.
  [[nodiscard]] Checked<void> scale_time(double factor);
};

// `where` names the text in errors (a path, or "built-in quick").
Checked<Spec> parse_spec(std::string_view text, std::string_view where);

// A specification that is part of the program, from specs/*.toml at build time.
struct BuiltinSpec {
  std::string_view name;  // "quick"
  std::string_view text;  // the file, byte for byte
};
std::span<const BuiltinSpec> builtin_specs();

// What `lab NAME_OR_PATH` means: a built-in one's name, else a file.
struct SpecText {
  std::string text;
  std::string where;  // for errors
};
Checked<SpecText> load_spec_text(const std::string& name_or_path);

// "4KiB", "1MB", "0B", "1500B": short, exact, safe in a path and a URL, and read back by parse_size.
std::string exact_size(std::uint64_t bytes);

// "4KiB", "direct": the path that is asked for, without its slash.
std::string response_name(const Response& response);

}  // namespace tlstrata::lab

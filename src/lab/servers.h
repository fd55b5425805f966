// What a lab's client talks to: the proxies under test and the origin behind them, inside the test bed.
//
// In:        a bed, the specification, the plan's servers, the run's private folder.
// Out:       running servers that accept connections, their URLs, their CPU so far. All proxies run at once, each on a
//            port of its own: those that no block uses do nothing.
// Ownership: Servers owns all processes and stops them when it dies. Must not outlive the Bed.
// Errors:    Complaint: a proxy missing or unwilling (with its own words), the origin not ready in time.
// Threads:   one.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/complaint.h"
#include "lab/certificates.h"
#include "lab/plan.h"
#include "lab/proxy.h"
#include "lab/spec.h"
#include "testbed/bed.h"
#include "testbed/resources.h"

namespace tlstrata::lab {

struct ServerOptions {
  std::filesystem::path program;          // tlstrata itself, for `serve`
  ProgramSearch search;                   // where to look for proxies
  std::filesystem::path openssl_library;  // folder with the libssl.so.3 that they are made to load; empty: the system's
  std::filesystem::path work;             // the run's private folder
};

class Servers {
 public:
  static Checked<Servers> start(const testbed::Bed& bed, const Spec& spec, const Plan& plan,
                                const ServerOptions& options);

  // "https://10.203.1.1:444/4KiB?delay=2ms"
  [[nodiscard]] std::string url(const Cell& cell) const;
  // What clients trust.
  [[nodiscard]] const std::filesystem::path& authority() const { return authority_; }
  [[nodiscard]] const ProxyIdentity& proxy_identity(std::size_t server) const {
    return proxies_[server].proxy.identity();
  }
  // Command lines and configurations, for the manifest; and what Cell::server counts.
  [[nodiscard]] const nlohmann::ordered_json& commands() const { return commands_; }
  [[nodiscard]] const nlohmann::ordered_json& servers() const { return servers_; }

  // Of a cell's own proxy, and of the origin.
  [[nodiscard]] pid_t proxy_pid(std::size_t server) const { return proxies_[server].proxy.pid(); }
  [[nodiscard]] pid_t origin_pid(std::size_t server) const;
  // Secrets of the connections between proxy and origin; empty where those are plain.
  [[nodiscard]] std::filesystem::path origin_key_log(std::size_t server) const;

  // All still run. A server that has died makes whatever was measured since worthless.
  [[nodiscard]] Checked<void> check_running() const;

 private:
  struct OneProxy {
    Proxy proxy;
    std::uint16_t port = 443;
    bool upstream_tls = false;
  };

  Servers() = default;
  Checked<void> start_origins(const testbed::Bed& bed, const Spec& spec, const Plan& plan, const ServerOptions& options,
                              LabAuthority& authority);
  Checked<void> start_proxies(const testbed::Bed& bed, const Spec& spec, const Plan& plan, const ServerOptions& options,
                              LabAuthority& authority);

  std::optional<testbed::Process> origin_;
  std::optional<testbed::Process> tls_origin_;
  std::vector<OneProxy> proxies_;  // by Cell::server
  std::filesystem::path authority_;
  std::filesystem::path origin_keys_;
  std::string address_;
  nlohmann::ordered_json commands_ = nlohmann::ordered_json::object();
  nlohmann::ordered_json servers_ = nlohmann::ordered_json::array();
};

// Every group that a configuration offers, once, in the specification's order: what the proxy supports.
std::string all_groups(const Spec& spec);

// The folder of the libssl.so.3 that this process itself runs with; empty where it is linked statically.
std::filesystem::path own_openssl_library();

}  // namespace tlstrata::lab

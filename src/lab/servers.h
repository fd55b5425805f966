// What a lab's client talks to: the proxy under test and the origin behind it, inside the test bed.
//
// In:        a bed, the specification, the run's private folder.
// Out:       running servers that accept connections, their URL, their CPU so far.
// Ownership: Servers owns both processes and stops them when it dies. Must not outlive the Bed.
// Errors:    Complaint: nginx missing or unwilling (with its own words), the origin not ready in time.
// Threads:   one.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/complaint.h"
#include "lab/certificates.h"
#include "lab/nginx.h"
#include "lab/spec.h"
#include "testbed/bed.h"
#include "testbed/resources.h"

namespace tlstrata::lab {

struct ServerOptions {
  std::filesystem::path program;          // tlstrata itself, for `serve origin`
  NginxSearch nginx;                      // where to look for it
  std::filesystem::path openssl_library;  // folder with the libssl.so.3 that nginx is made to load; empty: the system's
  std::filesystem::path work;             // the run's private folder
};

class Servers {
 public:
  static Checked<Servers> start(const testbed::Bed& bed, const Spec& spec, const ServerOptions& options);

  // "https://10.203.1.1", to be followed by "/4KiB".
  [[nodiscard]] const std::string& url() const { return url_; }
  [[nodiscard]] const CertificateFiles& certificates() const { return certificates_; }
  [[nodiscard]] const NginxIdentity& proxy_identity() const { return nginx_.identity(); }
  // Command lines and configuration, for the manifest.
  [[nodiscard]] const nlohmann::ordered_json& commands() const { return commands_; }

  [[nodiscard]] Checked<testbed::CpuTime> proxy_cpu() const { return testbed::cpu_of(nginx_.pid()); }
  [[nodiscard]] Checked<testbed::CpuTime> origin_cpu() const { return testbed::cpu_of(origin_.pid()); }

  // Both still run. A server that has died makes whatever was measured since worthless.
  [[nodiscard]] Checked<void> check_running() const;

 private:
  Servers(testbed::Process origin, Nginx nginx) : origin_(std::move(origin)), nginx_(std::move(nginx)) {}

  testbed::Process origin_;
  Nginx nginx_;
  CertificateFiles certificates_;
  std::string url_;
  nlohmann::ordered_json commands_;
};

// Every group that a configuration offers, once, in the specification's order: what the proxy supports.
std::string all_groups(const Spec& spec);

// The folder of the libssl.so.3 that this process itself runs with; empty where it is linked statically.
std::filesystem::path own_openssl_library();

}  // namespace tlstrata::lab

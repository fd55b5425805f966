#include "lab/nginx.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

#include "lab/certificates.h"
#include "lab/servers.h"
#include "testbed/resources.h"
#include "unit/testbed/bed_fixture.h"

namespace tlstrata::lab {
namespace {

namespace fs = std::filesystem;
using testbed::Bed;
using testbed::Host;
using testbed::must;
using testing::HasSubstr;
using testing::Not;

constexpr const char* origin_script = R"(
import http.server
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def do_GET(self):
        body = (f'{self.path} from {self.client_address[1]}' + '.' * 100000).encode()
        self.send_response(200)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *args): pass
server = http.server.ThreadingHTTPServer(('10.203.2.2', 8080), Handler)
print('ready', flush=True)
server.serve_forever()
)";

// One bed, one folder and one origin for all tests.
class NginxTest : public testbed::BedTest {
 public:
  static void SetUpTestSuite() {
    BedTest::SetUpTestSuite();
    if (!testbed::rights()) {
      return;
    }
    // With a space and a quote: nothing in a path may break the configuration.
    folder_ = fs::temp_directory_path() / fmt::format("tlstrata nginx's \"{}\"", ::getpid());
    fs::create_directories(folder_);
    testbed::SpawnOptions piped;
    piped.pipe_output = true;
    origin_ =
        std::make_unique<testbed::Process>(must(bed().spawn(Host::origin, {"python3", "-c", origin_script}, piped)));
    ASSERT_EQ(must(origin_->read_line(20 * nanos_per_second)), "ready") << origin_->log_tail();
  }
  static void TearDownTestSuite() {
    origin_.reset();
    if (!folder_.empty()) {
      fs::remove_all(folder_);
    }
    BedTest::TearDownTestSuite();
  }

 protected:
  static ProxyOptions options() {
    ProxyOptions options;
    options.program = must(find_nginx({.named = {}, .checkouts = {TLSTRATA_SOURCE_DIR}, .search_path = {}}));
    options.openssl_library = own_openssl_library();
    options.folder = folder_ / "nginx";
    options.address = bed().address(Host::proxy);
    LabAuthority authority = must(LabAuthority::create(folder_));
    const CertificateFiles files = must(authority.issue({}, "proxy", "proxy.lab", options.address));
    options.certificate = files.certificate;
    options.key = files.key;
    options.groups = "X25519:X25519MLKEM768:MLKEM1024";
    options.origin = "10.203.2.2:8080";
    return options;
  }

  // What `openssl s_client` says and gets for a GET, from the client's host.
  static std::string get(const std::string& groups, const std::string& path) {
    const fs::path library = own_openssl_library();
    const fs::path own = library.parent_path() / "bin" / "openssl";
    const std::string program = fs::exists(own) ? own.string() : "openssl";
    testbed::SpawnOptions spawn;
    spawn.environment = {"LD_LIBRARY_PATH=" + library.string()};
    spawn.pipe_error = true;
    return must(
        bed().run(Host::client,
                  {"sh", "-c",
                   "printf 'GET '\"$2\"' HTTP/1.1\\r\\nHost: lab\\r\\nConnection: close\\r\\n\\r\\n' | "
                   "\"$0\" s_client -connect 10.203.1.1:443 -groups \"$1\" -tls1_3 -nocommands -ign_eof -msg || true",
                   program, groups, path},
                  20 * nanos_per_second, spawn));
  }

  static inline fs::path folder_;

 private:
  static inline std::unique_ptr<testbed::Process> origin_;
};

TEST_F(NginxTest, ServesEachGroupThroughToTheOrigin) {
  Proxy nginx = must(start_nginx(bed(), Host::proxy, options()));
  EXPECT_TRUE(nginx.running());
  EXPECT_THAT(nginx.identity().version, testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
  EXPECT_THAT(nginx.identity().running_with, testing::StartsWith("OpenSSL 3."));
  for (const char* group : {"X25519", "X25519MLKEM768", "MLKEM1024"}) {
    const std::string seen = get(group, "/hello");
    EXPECT_THAT(seen, HasSubstr("HTTP/1.1 200 OK")) << nginx.error_log();
    EXPECT_THAT(seen, HasSubstr("/hello from"));
    EXPECT_THAT(seen, testing::AnyOf(HasSubstr(fmt::format("Negotiated TLS1.3 group: {}", group)),
                                     HasSubstr(fmt::format("Peer Temp Key: {},", group))));
    EXPECT_THAT(seen, HasSubstr("TLSv1.3"));
    EXPECT_THAT(seen, Not(HasSubstr("NewSessionTicket")));
  }
  // Its own files stay below the folder and the origin's answers are not spooled to disk.
  EXPECT_TRUE(fs::exists(folder_ / "nginx" / "nginx.pid"));
  EXPECT_EQ(std::distance(fs::recursive_directory_iterator(folder_ / "nginx" / "temp-proxy"),
                          fs::recursive_directory_iterator()),
            0);
  EXPECT_GT(must(testbed::cpu_of(nginx.pid())).total_ns(), 0);
  EXPECT_EQ(nginx.stop().code, 0);
  EXPECT_FALSE(nginx.running());
}

TEST_F(NginxTest, KeepsItsConnectionToTheOriginWhereAsked) {
  // The origin answers with the port that it was asked from.
  const auto port_of = [](const std::string& seen) {
    const std::size_t at = seen.find("from ");
    return at == std::string::npos ? std::string() : seen.substr(at + 5, seen.find('.', at) - at - 5);
  };
  ProxyOptions kept = options();
  {
    const Proxy nginx = must(start_nginx(bed(), Host::proxy, kept));
    const std::string first = port_of(get("X25519", "/1"));
    EXPECT_NE(first, "");
    EXPECT_EQ(port_of(get("X25519", "/2")), first);
  }
  kept.origin_keepalive = 0;
  const Proxy nginx = must(start_nginx(bed(), Host::proxy, kept));
  const std::string first = port_of(get("X25519", "/1"));
  EXPECT_NE(first, "");
  EXPECT_NE(port_of(get("X25519", "/2")), first);
}

TEST_F(NginxTest, SendsTicketsWhereAsked) {
  ProxyOptions resumable = options();
  resumable.session_tickets = true;
  resumable.session_cache = true;
  const Proxy nginx = must(start_nginx(bed(), Host::proxy, resumable));
  EXPECT_THAT(get("X25519", "/"), HasSubstr("NewSessionTicket"));
}

TEST_F(NginxTest, RefusesAGroupThatItWasNotGiven) {
  ProxyOptions classical = options();
  classical.groups = "X25519";
  const Proxy nginx = must(start_nginx(bed(), Host::proxy, classical));
  EXPECT_THAT(get("MLKEM1024", "/"), HasSubstr("handshake failure"));
}

TEST_F(NginxTest, RunsAsManyWorkersAsAskedAndTakesThemWithIt) {
  ProxyOptions several = options();
  several.workers = 3;
  const Proxy nginx = must(start_nginx(bed(), Host::proxy, several));
  const auto workers = [&] {
    return testbed::shell(bed(), Host::proxy, fmt::format("pgrep -P {} nginx | wc -l", nginx.pid()));
  };
  EXPECT_EQ(workers(), "3\n");
}

TEST_F(NginxTest, ComplainsInItsOwnWords) {
  ProxyOptions unknown = options();
  unknown.groups = "X25519:NOSUCHGROUP";
  const Checked<Proxy> group = start_nginx(bed(), Host::proxy, unknown);
  ASSERT_FALSE(group);
  EXPECT_THAT(describe(group.error()), HasSubstr("NOSUCHGROUP"));

  ProxyOptions keyless = options();
  keyless.key = folder_ / "no such key";
  const Checked<Proxy> key = start_nginx(bed(), Host::proxy, keyless);
  ASSERT_FALSE(key);
  EXPECT_THAT(describe(key.error()), HasSubstr("no such key"));

  ProxyOptions elsewhere = options();
  elsewhere.address = "192.0.2.1";
  const Checked<Proxy> address = start_nginx(bed(), Host::proxy, elsewhere);
  ASSERT_FALSE(address);
  EXPECT_THAT(describe(address.error()), HasSubstr("bind() to 192.0.2.1:443 failed"));

  ProxyOptions variable = options();
  variable.certificate = "/a/$b";
  EXPECT_FALSE(start_nginx(bed(), Host::proxy, variable));

  ProxyOptions foreign = options();
  foreign.program = "/bin/echo";
  EXPECT_FALSE(start_nginx(bed(), Host::proxy, foreign));
}

TEST(NginxConfiguration, ServesOnlyTls13) {
  ProxyOptions options;
  options.address = "10.0.0.1";
  options.port = 8443;
  options.certificate = "/c \"x\"";
  options.key = "/k\\";
  options.groups = "MLKEM1024";
  options.origin = "10.0.0.2:80";
  const std::string text = nginx_configuration(options);
  EXPECT_THAT(text, HasSubstr("listen 10.0.0.1:8443 ssl backlog=4096;"));
  EXPECT_THAT(text, HasSubstr(R"(ssl_certificate "/c \"x\"";)"));
  EXPECT_THAT(text, HasSubstr(R"(ssl_certificate_key "/k\\";)"));
  EXPECT_THAT(text, HasSubstr("ssl_protocols TLSv1.3;"));
  EXPECT_THAT(text, HasSubstr("ssl_ecdh_curve \"MLKEM1024\";"));
  EXPECT_THAT(text, HasSubstr("access_log off;"));
  EXPECT_THAT(text, HasSubstr("proxy_pass http://origin;"));
  EXPECT_THAT(text, Not(HasSubstr("proxy_ssl")));
}

TEST(NginxConfiguration, EncryptsAnewWithGroupsOfItsOwn) {
  ProxyOptions options;
  options.origin_tls = true;
  options.origin_groups = "MLKEM768:X25519";
  options.origin_authority = "/ca.pem";
  options.origin_keepalive = 0;
  const std::string text = nginx_configuration(options);
  EXPECT_THAT(text, HasSubstr("proxy_pass https://origin;"));
  EXPECT_THAT(text, HasSubstr("proxy_ssl_conf_command Groups \"MLKEM768:X25519\";"));
  EXPECT_THAT(text, HasSubstr("proxy_ssl_trusted_certificate \"/ca.pem\";"));
  EXPECT_THAT(text, HasSubstr("proxy_ssl_verify on;"));
  EXPECT_THAT(text, Not(HasSubstr("proxy_ssl_session_reuse off;")));  // it would leave Nagle's algorithm on
  EXPECT_THAT(text, HasSubstr("proxy_set_header Connection \"close\";"));
  EXPECT_THAT(text, Not(HasSubstr("keepalive ")));
}

TEST(NginxVersion, IsReadFromEitherForm) {
  const ProxyIdentity two = parse_nginx_version(
      "nginx version: nginx/1.22.1\nbuilt with OpenSSL 3.0.17 1 Jul 2025 (running with OpenSSL 3.5.7 9 Jun 2026)\nTLS "
      "SNI "
      "support enabled\n");
  EXPECT_EQ(two.version, "1.22.1");
  EXPECT_EQ(two.built_with, "OpenSSL 3.0.17 1 Jul 2025");
  EXPECT_EQ(two.running_with, "OpenSSL 3.5.7 9 Jun 2026");
  const ProxyIdentity one =
      parse_nginx_version("nginx version: nginx/1.28.0 (Ubuntu)\nbuilt with OpenSSL 3.5.3 16 Sep 2025\n");
  EXPECT_EQ(one.version, "1.28.0");
  EXPECT_EQ(one.running_with, "OpenSSL 3.5.3 16 Sep 2025");
  EXPECT_EQ(parse_nginx_version("nginx version: nginx/1.28.0\n").running_with, "");
  EXPECT_EQ(parse_nginx_version("").version, "");
}

TEST(FindNginx, TakesTheNamedOneOrNone) {
  EXPECT_EQ(must(find_nginx({.named = "/bin/sh", .checkouts = {TLSTRATA_SOURCE_DIR}, .search_path = {}})), "/bin/sh");
  const Checked<fs::path> missing = find_nginx({.named = "/no/nginx", .checkouts = {}, .search_path = "/usr/bin"});
  ASSERT_FALSE(missing);
  EXPECT_THAT(describe(missing.error()), HasSubstr("TLSTRATA_NGINX=/no/nginx"));
}

}  // namespace
}  // namespace tlstrata::lab

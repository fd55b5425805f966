#include "lab/haproxy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tlstrata::lab {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(HaproxyConfiguration, ServesOnlyTls13WithoutTickets) {
  ProxyOptions options;
  options.folder = "/f";
  options.address = "10.0.0.1";
  options.port = 8443;
  options.groups = "X25519MLKEM768:X25519";
  options.origin = "10.0.0.2:80";
  options.workers = 2;
  const std::string text = haproxy_configuration(options);
  EXPECT_THAT(text, HasSubstr("nbthread 2\n"));
  EXPECT_THAT(text, HasSubstr("bind 10.0.0.1:8443 ssl crt \"/f/chain-and-key.pem\" curves X25519MLKEM768:X25519 "
                              "ssl-min-ver TLSv1.3 alpn http/1.1 no-tls-tickets\n"));
  EXPECT_THAT(text, HasSubstr("http-reuse always\n"));
  EXPECT_THAT(text, HasSubstr("server origin 10.0.0.2:80 pool-max-conn 128\n"));
}

TEST(HaproxyConfiguration, EncryptsAnew) {
  ProxyOptions options;
  options.origin_tls = true;
  options.origin_authority = "/ca.pem";
  options.origin_keepalive = 0;
  const std::string text = haproxy_configuration(options);
  EXPECT_THAT(text, HasSubstr(" ssl ssl-min-ver TLSv1.3 no-ssl-reuse verify required ca-file \"/ca.pem\" verifyhost "
                              "origin.lab sni str(origin.lab)"));
  EXPECT_THAT(text, HasSubstr("http-reuse never\n"));
  EXPECT_THAT(text, Not(HasSubstr("http-reuse always")));
}

TEST(HaproxyConfiguration, APathThatItCannotHoldIsRefused) {
  ProxyOptions options;
  options.folder = "/a/$b";
  EXPECT_FALSE(HaproxyKind::recipe(options));
}

TEST(HaproxyVersion, IsReadFromItsOwnWords) {
  const ProxyIdentity identity = parse_haproxy_version(
      "HAProxy version 2.6.12-1+deb12u4 2026/10/17 - https://haproxy.org/\nBuilt with OpenSSL version : OpenSSL 3.0.22 "
      "25 "
      "Aug 2026\nRunning on OpenSSL version : OpenSSL 3.5.7 9 Jun 2026 (VERSIONS DIFFER!)\n");
  EXPECT_EQ(identity.version, "2.6.12-1+deb12u4");
  EXPECT_EQ(identity.built_with, "OpenSSL 3.0.22 25 Aug 2026");
  EXPECT_EQ(identity.running_with, "OpenSSL 3.5.7 9 Jun 2026 ");
  EXPECT_EQ(parse_haproxy_version("").version, "");
}

}  // namespace
}  // namespace tlstrata::lab

#include "lab/spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "base/units.h"
#include "lab/spec_table.h"

namespace tlstrata::lab {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* smallest = "name = \"x\"\ngroups = [\"X25519\"]\nresponses = [\"4KiB\"]\n";

TEST(Spec, QuickIsTheFileOfTheCheckout) {
  std::ifstream file(TLSTRATA_SOURCE_DIR "/specs/quick.toml", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  ASSERT_FALSE(text.empty());
  const Checked<SpecText> built_in = load_spec_text("quick");
  ASSERT_TRUE(built_in);
  EXPECT_EQ(built_in->text, text);
}

TEST(Spec, EveryBuiltInOneIsValidAndNamedAsItsFile) {
  ASSERT_FALSE(builtin_specs().empty());
  for (const BuiltinSpec& built_in : builtin_specs()) {
    const Checked<Spec> spec = parse_spec(built_in.text, built_in.name);
    ASSERT_TRUE(spec) << describe(spec.error());
    EXPECT_EQ(spec->name, built_in.name);
  }
}

TEST(Spec, QuickSaysWhatItShould) {
  const Checked<Spec> spec = parse_spec(load_spec_text("quick")->text, "quick");
  ASSERT_TRUE(spec) << describe(spec.error());
  ASSERT_EQ(spec->groups.size(), 3U);
  EXPECT_EQ(spec->groups[0].offer, "X25519");
  EXPECT_EQ(spec->groups[1].offer, "X25519MLKEM768");
  EXPECT_EQ(spec->groups[2].offer, "MLKEM1024");
  EXPECT_EQ(spec->groups[2].label, "mlkem1024");
  EXPECT_THAT(spec->responses, ElementsAre(Response(4096), Response(40960)));
  EXPECT_THAT(spec->rates, ElementsAre(100));
  EXPECT_EQ(spec->block_ns, nanos_per_second);
  EXPECT_EQ(spec->blocks, 10U);
}

TEST(Spec, DefaultsStandWhereNothingIsSaid) {
  const Checked<Spec> spec = parse_spec(smallest, "x.toml");
  ASSERT_TRUE(spec) << describe(spec.error());
  const Spec defaults;
  EXPECT_EQ(spec->rates, defaults.rates);
  EXPECT_EQ(spec->blocks, defaults.blocks);
  EXPECT_EQ(spec->snaplen, defaults.snaplen);
  EXPECT_EQ(spec->response_timeout_ns, defaults.response_timeout_ns);
}

TEST(Spec, ReadsEveryKey) {
  const Checked<Spec> spec = parse_spec(R"(
name = "all"
groups = ["X25519", { offer = "X25519MLKEM768:X25519", key_shares = "X25519", label = "retry" }, { offer = "0x11ec" }]
responses = [0, "1MB", "1500B"]
rate = "2.5k"
arrivals = "poisson"
block = "250ms"
blocks = 3
seed = 9
certificate = ["ml-dsa-44", { kind = "rsa-3072", chain = 3, label = "long" }, { chain = 2 }]
topology = ["proxy", "reencrypt", { reencrypt = "mlkem768:X25519" }]
inject = ["none", "before_hello=cpu:200us", "before_response=sleep:5ms"]
client_cpu = "12.5%"
[warmup]
transactions = 0
per_block = 1
[proxy]
name = ["haproxy", "builtin"]
workers = 2
keep_upstream = false
[origin]
threads = 3
[cores]
client = 0
proxy = [1, 2]
[network]
congestion_control = "reno"
offloads = true
mtu = 9000
[capture]
snaplen = 256
buffer = "64MiB"
proxy = false
[timeouts]
connect = "1s"
handshake = "2s"
response = "1m"
)",
                                        "all.toml");
  ASSERT_TRUE(spec) << describe(spec.error());
  ASSERT_EQ(spec->groups.size(), 3U);
  EXPECT_EQ(spec->groups[1].offer, "X25519MLKEM768:X25519");
  EXPECT_EQ(spec->groups[1].key_shares, "X25519");
  EXPECT_EQ(spec->groups[1].label, "retry");
  EXPECT_EQ(spec->groups[2].offer, "X25519MLKEM768");
  EXPECT_THAT(spec->responses, ElementsAre(Response(0), Response(1'000'000), Response(1500)));
  EXPECT_THAT(spec->rates, ElementsAre(2500));
  EXPECT_EQ(spec->arrivals, "poisson");
  EXPECT_EQ(spec->block_ns, 250 * nanos_per_millisecond);
  EXPECT_EQ(spec->blocks, 3U);
  EXPECT_EQ(spec->seed, 9U);
  EXPECT_EQ(spec->warmup_transactions, 0U);
  EXPECT_EQ(spec->warmup_per_block, 1U);
  EXPECT_EQ(spec->proxy_workers, 2U);
  EXPECT_EQ(spec->snaplen, 256U);
  EXPECT_EQ(spec->capture_buffer, 64U << 20U);
  EXPECT_EQ(spec->connect_timeout_ns, nanos_per_second);
  EXPECT_EQ(spec->handshake_timeout_ns, 2 * nanos_per_second);
  EXPECT_EQ(spec->response_timeout_ns, 60 * nanos_per_second);
  EXPECT_THAT(spec->certificates,
              ElementsAre(CertificateChoice{"ml-dsa-44", 1, "ml-dsa-44"}, CertificateChoice{"rsa-3072", 3, "long"},
                          CertificateChoice{"ecdsa-p256", 2, "ecdsa-p256-chain2"}));
  EXPECT_THAT(spec->upstreams,
              ElementsAre(UpstreamChoice{false, "", "proxy"}, UpstreamChoice{true, "X25519", "reencrypt"},
                          UpstreamChoice{true, "MLKEM768:X25519", "reencrypt-mlkem768+x25519"}));
  EXPECT_THAT(spec->injections,
              ElementsAre(Injection{}, Injection{Place::before_hello, true, 200'000, "before_hello-cpu-200us"},
                          Injection{Place::before_response, false, 5'000'000, "before_response-sleep-5ms"}));
  EXPECT_EQ(spec->client_cpu, 0.125);
  EXPECT_THAT(spec->proxies, ElementsAre("haproxy", "builtin"));
  EXPECT_FALSE(spec->keep_upstream);
  EXPECT_EQ(spec->origin_threads, 3U);
  EXPECT_THAT(spec->client_cores, ElementsAre(0));
  EXPECT_THAT(spec->proxy_cores, ElementsAre(1, 2));
  EXPECT_TRUE(spec->origin_cores.empty());
  EXPECT_EQ(spec->congestion_control, "reno");
  EXPECT_TRUE(spec->offloads);
  EXPECT_EQ(spec->mtu, 9000U);
  EXPECT_FALSE(spec->capture_proxy);
  EXPECT_EQ(spec->cells(), 3U * 3 * 3 * 3 * 3 * 2);
}

TEST(Spec, TheProxysOwnAnswerIsAResponse) {
  const Checked<Spec> spec =
      parse_spec("name = \"x\"\ngroups = [\"X25519\"]\nresponses = [\"direct\", \"4KiB\"]\n", "x.toml");
  ASSERT_TRUE(spec) << describe(spec.error());
  EXPECT_THAT(spec->responses, ElementsAre(Response::of_proxy(), Response(4096)));
  EXPECT_FALSE(parse_spec("name = \"x\"\ngroups = [\"X25519\"]\nresponses = [\"direct\", 0]\n", "x.toml"));
}

TEST(Spec, ScalingShortensBlocksAsLongAsTheyHaveATransaction) {
  Spec spec = *parse_spec(smallest, "x.toml");
  ASSERT_TRUE(spec.scale_time(0.02));
  EXPECT_EQ(spec.block_ns, 20 * nanos_per_millisecond);
  EXPECT_FALSE(spec.scale_time(0.02));
  EXPECT_FALSE(spec.scale_time(0));
  EXPECT_FALSE(spec.scale_time(-1));
  EXPECT_EQ(spec.block_ns, 20 * nanos_per_millisecond);
}

TEST(Spec, GroupsMayBeOneStringInTheLanguageOfGroups) {
  const Checked<Spec> spec =
      parse_spec("name = \"x\"\nresponses = [1]\ngroups = \"X25519MLKEM768:X25519,MLKEM1024\"\n", "x.toml");
  ASSERT_TRUE(spec) << describe(spec.error());
  ASSERT_EQ(spec->groups.size(), 2U);
  EXPECT_EQ(spec->groups[0].offer, "X25519MLKEM768:X25519");
  EXPECT_EQ(spec->groups[0].label, "x25519mlkem768+x25519");
}

struct BadLine {
  const char* line;    // put as line 4 after `smallest`, unless it replaces a line of it
  int number;          // the line that the error must name
  const char* key;     // that it must name
  const char* remedy;  // a part of it
};

class BadSpec : public testing::TestWithParam<BadLine> {};

TEST_P(BadSpec, NamesLineAndKey) {
  const BadLine& bad = GetParam();
  const std::string line = bad.line;
  std::string text;
  if (bad.number <= 3) {
    int number = 0;
    for (const char* good : {"name = \"x\"", "groups = [\"X25519\"]", "responses = [\"4KiB\"]"}) {
      text += (++number == bad.number ? line : good) + "\n";
    }
  } else {
    text = smallest + line + "\n";
  }
  const Checked<Spec> spec = parse_spec(text, "dir/bad.toml");
  ASSERT_FALSE(spec) << text;
  EXPECT_EQ(spec.error().where, "dir/bad.toml:" + std::to_string(bad.number)) << describe(spec.error());
  EXPECT_THAT(spec.error().what, HasSubstr(bad.key)) << describe(spec.error());
  EXPECT_THAT(spec.error().remedy, HasSubstr(bad.remedy)) << describe(spec.error());
  EXPECT_EQ(spec.error().exit_code, ExitCode::unusable);
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadSpec,
    testing::Values(
        // Unknown keys, with the nearest known one where there is one.
        BadLine{"respones = [\"4KiB\"]", 3, "'respones'", ""}, BadLine{"blok = \"1s\"", 4, "'blok'", "'block'"},
        BadLine{"rates = 10", 4, "'rates'", "'rate'"}, BadLine{"Seed = 10", 4, "'Seed'", "'seed'"},
        BadLine{"zzzzzzzzz = 1", 4, "'zzzzzzzzz'", "the keys here are"},
        BadLine{"capture.snaplenn = 256", 4, "'capture.snaplenn'", "'capture.snaplen'"},
        BadLine{"[capture]\nbufer = \"1MiB\"", 5, "'capture.bufer'", "'capture.buffer'"},
        BadLine{"[proxy]\nname = \"nginx\"\nworker = 2", 6, "'proxy.worker'", "'proxy.workers'"},
        BadLine{"[timeout]\nconnect = \"1s\"", 4, "'timeout'", "'timeouts'"},
        // Wrong units and types.
        BadLine{"block = 1", 4, "'block'", "unit"}, BadLine{"block = \"1\"", 4, "'block'", "unit"},
        BadLine{"block = \"1sec\"", 4, "'block'", "unit"}, BadLine{"block = \"-1s\"", 4, "'block'", "unit"},
        BadLine{"block = true", 4, "'block'", "unit"}, BadLine{"rate = \"100ms\"", 4, "'rate'", "per second"},
        BadLine{"rate = []", 4, "'rate'", "1 to 64"}, BadLine{"rate = [true]", 4, "'rate'", "per second"},
        BadLine{"blocks = \"10\"", 4, "'blocks'", "whole number"},
        BadLine{"blocks = 2.5", 4, "'blocks'", "whole number"}, BadLine{"seed = -1", 4, "'seed'", "0 to"},
        BadLine{"arrivals = 1", 4, "'arrivals'", "string"}, BadLine{"arrivals = \"even\"", 4, "'arrivals'", "poisson"},
        BadLine{"certificate = \"rsa\"", 4, "'certificate'", "ecdsa-p256"},
        BadLine{"proxy = \"nginx\"", 4, "'proxy'", "[proxy]"}, BadLine{"warmup = 3", 4, "'warmup'", "[warmup]"},
        BadLine{"[proxy]\nname = \"apache\"", 5, "'proxy.name'", "nginx"},
        BadLine{"[timeouts]\nconnect = 5", 5, "'timeouts.connect'", "unit"},
        BadLine{"[capture]\nbuffer = \"128 MiB\"", 5, "'capture.buffer'", "size"},
        BadLine{"name = 5", 1, "'name'", "string"}, BadLine{"responses = \"4KiB\"", 3, "'responses'", "responses = ["},
        BadLine{"responses = [\"4K\"]", 3, "'responses'", "size"},
        BadLine{"responses = [-1]", 3, "'responses'", "size"}, BadLine{"responses = [1.5]", 3, "'responses'", "size"},
        BadLine{"responses = [\"1s\"]", 3, "'responses'", "size"}, BadLine{"groups = 7", 2, "'groups'", "groups = ["},
        BadLine{"groups = [7]", 2, "'groups'", "offer"},
        BadLine{"groups = [{ ofer = \"X25519\" }]", 2, "'groups.ofer'", "'groups.offer'"},
        BadLine{"groups = [{ offer = \"X25519\", key_shares = \"X25519,P-256\" }]", 2, "'groups.key_shares'", "':'"},
        BadLine{"groups = [{ offer = \"X25519\", label = \"../x\" }]", 2, "'groups.label'", "letters"},
        // Values outside their limits.
        BadLine{"rate = 0", 4, "'rate'", "per second"}, BadLine{"rate = nan", 4, "'rate'", "per second"},
        BadLine{"rate = inf", 4, "'rate'", "per second"}, BadLine{"rate = 1e99", 4, "'rate'", "per second"},
        BadLine{"rate = 0.5", 4, "'rate'", "lengthen 'block'"}, BadLine{"blocks = 0", 4, "'blocks'", "1 to"},
        BadLine{"blocks = 99999999999", 4, "'blocks'", "1 to"}, BadLine{"block = \"1ns\"", 4, "'block'", "10.0 ms"},
        BadLine{"[proxy]\nworkers = 0", 5, "'proxy.workers'", "1 to"},
        BadLine{"[capture]\nsnaplen = 1", 5, "'capture.snaplen'", "128 B"},
        BadLine{"[capture]\nbuffer = \"4GiB\"", 5, "'capture.buffer'", "MiB"},
        BadLine{"responses = [\"2GiB\"]", 3, "'responses'", "1024 MiB"},
        BadLine{"responses = []", 3, "'responses'", ""},
        BadLine{"responses = [\"4KiB\", 4096]", 3, "4KiB twice", "drop"},
        BadLine{"groups = []", 2, "'groups'", "baseline"}, BadLine{"groups = [\"\"]", 2, "'groups'", "':'"},
        BadLine{"groups = [\"X25519::P-256\"]", 2, "'groups'", "':'"},
        BadLine{"groups = [\"X25519 P-256\"]", 2, "'groups'", "':'"},
        BadLine{"groups = [\"X25519,P-256\"]", 2, "'groups'", "one configuration each"},
        BadLine{"groups = [\"X25519=2\"]", 2, "'groups'", "weights"},
        BadLine{"groups = [\"X25519MLKEM786\"]", 2, "'X25519MLKEM786'", "'X25519MLKEM768'"},
        BadLine{"groups = [\"X25519\", \"P-256:secp256r1\"]", 2, "twice", "drop"},
        BadLine{"groups = [{ offer = \"X25519\", key_shares = \"P-256\" }]", 2, "'secp256r1', which is not offered",
                "X25519"},
        BadLine{"groups = [\"X25519\", \"x25519\"]", 2, "'groups' has 'x25519' twice", "label"},
        BadLine{"name = \"\"", 1, "'name'", "folder"}, BadLine{"name = \"a/b\"", 1, "'name'", "folder"},
        BadLine{"name = \"..\"", 1, "'name'", "folder"}, BadLine{"name = \"-x\"", 1, "'name'", "folder"},
        BadLine{"name = \"a\\u0000b\"", 1, "'name'", "folder"},
        // No TOML at all.
        BadLine{"blocks = ", 4, "", "--show-spec"}, BadLine{"= 3", 4, "", "--show-spec"},
        BadLine{"name = \"again\"", 4, "name", "--show-spec"}));

TEST(Spec, MissingKeysAreNamed) {
  for (const char* key : {"name", "groups", "responses"}) {
    std::string text;
    for (const std::string line : {"name = \"x\"", "groups = [\"X25519\"]", "responses = [1]"}) {
      text += line.starts_with(key) ? "" : line + "\n";
    }
    const Checked<Spec> spec = parse_spec(text, "x.toml");
    ASSERT_FALSE(spec);
    EXPECT_THAT(spec.error().what, AllOf(HasSubstr(key), HasSubstr("missing")));
  }
}

TEST(Spec, TooManyBlocksInAllAreRefused) {
  std::string groups;
  for (int i = 0; i < 60; ++i) {
    groups += "\"" + std::to_string(1000 + i) + "\",";
  }
  const Checked<Spec> spec =
      parse_spec("name = \"x\"\nresponses = [1]\ngroups = [" + groups + "]\nblocks = 10000\n", "x.toml");
  ASSERT_FALSE(spec);
  EXPECT_EQ(spec.error().where, "x.toml:4");
}

// Whatever the bytes, there is an answer and no crash: each prefix of quick.toml, and each with one byte changed.
TEST(Spec, DamagedFilesAreAnsweredNotCrashedOn) {
  const std::string text = load_spec_text("quick")->text;
  std::size_t refused = 0;
  for (std::size_t length = 0; length < text.size(); length += 7) {
    refused += parse_spec(text.substr(0, length), "cut") ? 0U : 1U;
  }
  for (std::size_t at = 0; at < text.size(); at += 3) {
    std::string damaged = text;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
    refused += parse_spec(damaged, "damaged") ? 0U : 1U;
  }
  EXPECT_GT(refused, text.size() / 20);
}

TEST(Spec, AFileThatIsNotThereIsNamed) {
  const Checked<SpecText> text = load_spec_text("no/such.toml");
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().where, "no/such.toml");
  EXPECT_THAT(text.error().remedy, HasSubstr("quick"));
}

TEST(Spec, ExactSizesAreReadBack) {
  for (const std::uint64_t bytes : {0ULL, 1ULL, 999ULL, 1000ULL, 1024ULL, 1500ULL, 4096ULL, 10'000ULL, 40960ULL,
                                    1'000'000ULL, 1ULL << 20U, 1ULL << 30U, 123'456'789ULL}) {
    const auto read = parse_size(exact_size(bytes));
    ASSERT_TRUE(read) << exact_size(bytes);
    EXPECT_EQ(*read, bytes) << exact_size(bytes);
  }
  EXPECT_EQ(exact_size(4096), "4KiB");
  EXPECT_EQ(exact_size(0), "0B");
}

TEST(Nearest, FindsSlipsAndNothingElse) {
  EXPECT_EQ(nearest("blcok", {"block", "blocks", "rate"}), "block");
  EXPECT_EQ(nearest("bolck", {"rate", "block"}), "block");
  EXPECT_EQ(nearest("Rate", {"block", "rate"}), "rate");
  EXPECT_EQ(nearest("elephant", {"block", "rate"}), "");
  EXPECT_EQ(nearest(std::string(100'000, 'x'), {"block"}), "");
}

}  // namespace
}  // namespace tlstrata::lab

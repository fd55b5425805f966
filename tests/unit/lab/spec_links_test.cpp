#include "lab/spec_links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tlstrata::lab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Checked<Spec> with(const std::string& link) {
  return parse_spec("name = \"x\"\ngroups = [\"X25519\"]\nresponses = [\"4KiB\"]\n[link]\n" + link, "x.toml");
}

std::vector<std::string> labels(const Spec& spec) {
  std::vector<std::string> found;
  for (const LinkChoice& link : spec.links) {
    found.push_back(link.label);
  }
  return found;
}

TEST(SpecLinks, WithoutATableThereIsNoEmulation) {
  const auto spec = parse_spec("name = \"x\"\ngroups = [\"X25519\"]\nresponses = [\"4KiB\"]\n", "x.toml");
  ASSERT_TRUE(spec);
  EXPECT_THAT(spec->links, ElementsAre(LinkChoice{}));
}

TEST(SpecLinks, PresetsAndWindowsMultiply) {
  const auto spec = with("preset = [\"metro\", \"satellite\"]\ninitcwnd = [10, 20]\n");
  ASSERT_TRUE(spec) << describe(spec.error());
  EXPECT_THAT(labels(*spec), ElementsAre("metro-iw10", "metro-iw20", "satellite-iw10", "satellite-iw20"));
  EXPECT_EQ(spec->links[1].initcwnd, 20U);
  EXPECT_EQ(spec->links[0].shape.forward.delay_ns + spec->links[0].shape.backward.delay_ns, 5'600'000);
  EXPECT_EQ(spec->links[2].shape.backward.rate_bits_per_s, 25e6);
  EXPECT_EQ(spec->cells(), 4U);
}

TEST(SpecLinks, FiguresMultiply) {
  const auto spec = with(
      "rtt = [\"5ms\", \"30ms\"]\nloss = [\"0%\", \"2.5%\"]\njitter = \"1ms\"\nrate = \"20Mbit\"\nrate_up = "
      "\"1.5Mbit\"\nqueue = 50\nloss_burst = 3\nreorder = \"1%\"\nduplicate = \"0.5%\"\n");
  ASSERT_TRUE(spec) << describe(spec.error());
  EXPECT_THAT(labels(*spec), ElementsAre("5ms-0pct", "5ms-2.5pct", "30ms-0pct", "30ms-2.5pct"));
  const testbed::LinkShape& shape = spec->links[3].shape;
  EXPECT_EQ(shape.forward.delay_ns, 15'000'000);
  EXPECT_EQ(shape.backward.loss, 0.025);
  EXPECT_EQ(shape.forward.jitter_ns, 1'000'000);
  EXPECT_EQ(shape.forward.rate_bits_per_s, 1.5e6);
  EXPECT_EQ(shape.backward.rate_bits_per_s, 20e6);
  EXPECT_EQ(shape.backward.queue_packets, 50U);
  EXPECT_EQ(shape.backward.loss_burst, 3);
  EXPECT_EQ(shape.backward.reorder, 0.01);
  EXPECT_EQ(shape.forward.duplicate, 0.005);
  EXPECT_TRUE(spec->links[3].emulated);
}

TEST(SpecLinks, AWindowAloneNeedsNoEmulation) {
  const auto spec = with("initcwnd = 20\n");
  ASSERT_TRUE(spec) << describe(spec.error());
  EXPECT_FALSE(spec->links.front().emulated);
  EXPECT_EQ(spec->links.front().initcwnd, 20U);
}

TEST(SpecLinks, WrongValuesAreNamed) {
  for (const auto& [link, said] :
       std::vector<std::pair<std::string, std::string>>{{"preset = \"moon\"\n", "no choice 'moon'"},
                                                        {"preset = \"lan\"\nrtt = \"5ms\"\n", "beside a preset"},
                                                        {"rtt = \"soon\"\n", "'link.rtt' has 'soon'"},
                                                        {"rtt = 5\n", "no string"},
                                                        {"loss = \"110%\"\n", "'110%'"},
                                                        {"loss = \"\"\n", "'link.loss' has ''"},
                                                        {"rate = \"20\"\n", "'20'"},
                                                        {"initcwnd = 0\n", "no window"},
                                                        {"initcwnd = [10, 10]\n", "two links are"},
                                                        {"delay = \"5ms\"\n", "delay"}}) {
    const auto spec = with(link);
    ASSERT_FALSE(spec) << link;
    EXPECT_THAT(describe(spec.error()), HasSubstr(said)) << link;
  }
}

TEST(SpecLinks, EveryPresetSaysWhereItIsFrom) {
  ASSERT_EQ(link_presets().size(), 9U);
  for (const LinkPreset& preset : link_presets()) {
    EXPECT_FALSE(preset.source.empty()) << preset.name;
    EXPECT_GT(preset.shape.forward.delay_ns, 0) << preset.name;
  }
}

}  // namespace
}  // namespace tlstrata::lab

#include "report/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "unit/report/sample.h"
#include "unit/report/scratch_folder.h"

namespace tlstrata::report {
namespace {

using testing::HasSubstr;
using Json = nlohmann::ordered_json;

Checked<Manifest> read_text(const std::string& text) {
  const ScratchFolder folder;
  std::ofstream(folder.path() / "manifest.json") << text;
  return read_manifest(folder.path() / "manifest.json");
}

TEST(Manifest, IsReadAsTheLabWritesIt) {
  const auto manifest = read_text(sample::make({.blocks = 2, .per_block = 3}).manifest.dump());
  ASSERT_TRUE(manifest) << describe(manifest.error());
  EXPECT_EQ(manifest->seed, 7U);
  EXPECT_EQ(manifest->cells.size(), 6U);
  EXPECT_EQ(manifest->cells[1].groups, "X25519MLKEM768");
  EXPECT_EQ(manifest->cells[5].response_bytes, 40960U);
  EXPECT_TRUE(manifest->cells[3].baseline);
  EXPECT_EQ(manifest->blocks.size(), 12U);
  EXPECT_EQ(manifest->blocks[1].block, 1U);
  EXPECT_EQ(manifest->blocks[1].scheduled, 3U);
  EXPECT_EQ(manifest->proxy_version, "1.22.1");
  ASSERT_EQ(manifest->machine.size(), 3U);
  EXPECT_EQ(manifest->machine[1], (std::pair<std::string, std::string>{"cores", "2"}));
}

TEST(Manifest, UnknownAndMissingKeysAreNoFault) {
  const auto manifest = read_text(R"({"tool":"tlstrata","cells":[],"blocks":[],"later":{"x":[1]},"partial":true})");
  ASSERT_TRUE(manifest) << describe(manifest.error());
  EXPECT_TRUE(manifest->partial);
  EXPECT_FALSE(manifest->warmup_transactions);
}

TEST(Manifest, NamesTheKeyThatIsWrong) {
  const Json good = sample::make({.blocks = 1, .per_block = 1}).manifest;
  const std::vector<std::pair<const char*, std::function<void(Json&)>>> damages{
      {"\"tool\"", [](Json& json) { json["tool"] = "other"; }},
      {"\"cells\"", [](Json& json) { json.erase("cells"); }},
      {"\"blocks\"", [](Json& json) { json["blocks"] = 3; }},
      {"\"name\"", [](Json& json) { json["cells"][0].erase("name"); }},
      {"\"name\"", [](Json& json) { json["cells"][0] = 5; }},
      {"\"seed\"", [](Json& json) { json["seed"] = -1; }},
      {"\"scheduled\"", [](Json& json) { json["blocks"][0]["scheduled"] = "many"; }},
      {"\"machine\"", [](Json& json) { json["machine"] = "big"; }},
      {"\"partial\"", [](Json& json) { json["partial"] = 1; }},
  };
  for (const auto& [key, damage] : damages) {
    Json json = good;
    damage(json);
    const auto manifest = read_text(json.dump());
    ASSERT_FALSE(manifest) << key;
    EXPECT_THAT(manifest.error().what, HasSubstr(key));
    EXPECT_THAT(manifest.error().where, HasSubstr("manifest.json"));
  }
}

TEST(Manifest, WhatIsNoJsonIsAComplaint) {
  for (const char* text : {"", "{", "[]", "null", "\xff", "{\"tool\":\"\xff\"}"}) {
    EXPECT_FALSE(read_text(text)) << text;
  }
  EXPECT_FALSE(read_manifest("/nonexistent/manifest.json"));
}

}  // namespace
}  // namespace tlstrata::report

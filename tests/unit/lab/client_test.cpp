#include "lab/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace tlstrata::lab {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

Spec example_spec() {
  return *parse_spec(
      "name = \"x\"\ngroups = [\"X25519\", { offer = \"X25519MLKEM768:X25519\", key_shares = \"X25519\" }]\n"
      "responses = [\"4KiB\"]\nrate = 2.5\nblock = \"1.5s\"\n",
      "x");
}

std::string value_of(const std::vector<std::string>& command, const std::string& option) {
  const auto found = std::find(command.begin(), command.end(), option);
  return found == command.end() || found + 1 == command.end() ? "(absent)" : *(found + 1);
}

TEST(ClientCommand, SaysEveryPartOfTheBlock) {
  const Spec spec = example_spec();
  const Plan plan = make_plan(spec);
  ClientRequest request;
  request.program = "/opt/tlstrata";
  request.spec = &spec;
  request.cell = &plan.cells[1];
  request.block = PlannedBlock{1, 3, 7, 12345};
  request.warmup = 2;
  request.url = "https://10.203.1.1/4KiB";
  const std::vector<std::string> command = client_command(request);
  EXPECT_EQ(command[0], "/opt/tlstrata");
  EXPECT_EQ(command[1], "load");
  EXPECT_EQ(command[2], "https://10.203.1.1/4KiB");
  EXPECT_EQ(value_of(command, "--groups"), "X25519MLKEM768:X25519");
  EXPECT_EQ(value_of(command, "--key-shares"), "X25519");
  EXPECT_EQ(value_of(command, "--rate"), "2.5");
  EXPECT_EQ(value_of(command, "--duration"), "1500000000ns");
  EXPECT_EQ(value_of(command, "--seed"), "12345");
  EXPECT_EQ(value_of(command, "--block"), "3");
  EXPECT_EQ(value_of(command, "--warmup"), "2");
  request.cell = &plan.cells[0];
  EXPECT_EQ(value_of(client_command(request), "--key-shares"), "(absent)");
  EXPECT_EQ(value_of(client_command(request), "--inject"), "(absent)");
  Cell delayed = plan.cells[0];
  delayed.injection = {Place::before_finished, true, 200'000, "x"};
  request.cell = &delayed;
  EXPECT_EQ(value_of(client_command(request), "--inject"), "before_finished=cpu:200000ns");
  delayed.injection.place = Place::before_response;  // the origin's
  EXPECT_EQ(value_of(client_command(request), "--inject"), "(absent)");
}

class ClientCountsTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "lab-client-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  Checked<ClientCounts> read(const std::string& text) {
    std::ofstream(folder_ / "result.json") << text;
    return read_client_counts(folder_ / "result.json");
  }

  fs::path folder_;
};

TEST_F(ClientCountsTest, AreReadFromTheClientsResult) {
  const auto counts = read(R"({"scheduled": 100, "outcomes": {"complete": 97, "not_started": 3},
                               "cpu": {"user_ns": 5, "system_ns": 7}})");
  ASSERT_TRUE(counts) << describe(counts.error());
  EXPECT_EQ(counts->scheduled, 100U);
  EXPECT_EQ(counts->not_started, 3U);
  EXPECT_EQ(counts->cpu.user_ns, 5);
  EXPECT_EQ(counts->cpu.system_ns, 7);
}

TEST_F(ClientCountsTest, AResultThatIsNoneIsNamed) {
  for (const char* text :
       {"", "[]", "{", R"({"scheduled": 1})", R"({"scheduled": "many", "outcomes": {"not_started": 1}})"}) {
    const auto counts = read(text);
    ASSERT_FALSE(counts) << text;
    EXPECT_THAT(counts.error().where, HasSubstr("result.json"));
  }
  EXPECT_FALSE(read_client_counts(folder_ / "absent.json"));
}

TEST(AllGroups, AreEachGroupOnceInOrder) {
  EXPECT_EQ(all_groups(example_spec()), "X25519:X25519MLKEM768");
}

TEST(OwnOpenssl, IsAFolderWithTheLibrary) {
  const fs::path folder = own_openssl_library();
  EXPECT_TRUE(folder.empty() || fs::exists(folder / "libssl.so.3")) << folder;
}

}  // namespace
}  // namespace tlstrata::lab

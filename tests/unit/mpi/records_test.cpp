#include <gtest/gtest.h>
#include <stdlib.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "mpi/load_records.h"

namespace tlstrata::mpi {
namespace {

using load::Instant;

class Records : public testing::Test {
 protected:
  Records() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tlstrata-records-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~Records() override { std::filesystem::remove_all(folder_); }

  RecordsFile make(load::Share share) {
    auto file = RecordsFile::create(folder_, share);
    EXPECT_TRUE(file) << describe(file.error());
    return std::move(*file);
  }
  std::vector<load::Record> read(std::uint32_t rank) {
    const auto list = read_records(folder_, rank);
    EXPECT_TRUE(list);
    std::vector<load::Record> records;
    list->for_each([&](const load::Record& record) { records.push_back(record); });
    return records;
  }

  std::string folder_;
};

load::Record started(std::uint32_t connection) {
  load::Record record;
  record.connection = connection;
  record.start_ns = 1'000'007;
  record.clock_offset_ns = 1'000'000;
  record.mark(Instant::scheduled, 5);
  record.mark(Instant::started, 7);
  record.outcome = load::Outcome::complete;
  return record;
}

TEST_F(Records, AreNumberedInTheWholeScheduleAndTimedByTheRanksClock) {
  auto file = make({2, 4});
  file.set_clock(300, 900'000);
  file.add(started(5));
  load::Record never;
  never.connection = 6;
  never.mark(Instant::scheduled, 11);
  file.add(never);
  ASSERT_TRUE(file.flush());
  const auto records = read(2);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].connection, 22U);
  EXPECT_EQ(records[0].rank, 2U);
  EXPECT_EQ(records[0].start_ns, 1'000'307);
  EXPECT_EQ(records[0].instant(Instant::started), 1'000'307);
  EXPECT_EQ(records[0].instant(Instant::scheduled), 1'000'305);
  EXPECT_EQ(records[0].instant(Instant::hello), 0);
  EXPECT_EQ(records[1].connection, 26U);
  EXPECT_EQ(records[1].start_ns, 0);
  EXPECT_EQ(records[1].instant(Instant::scheduled), 900'311);
}

TEST_F(Records, ARankThatDiedInMidWriteLeavesWholeRecords) {
  auto file = make({0, 1});
  for (std::uint32_t i = 0; i < 3; ++i) {
    file.add(started(i));
  }
  ASSERT_TRUE(file.flush());
  const std::string path = records_path(folder_, 0);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  EXPECT_EQ(read(0).size(), 2U);
  std::filesystem::resize_file(path, 3);
  EXPECT_TRUE(read(0).empty());
}

TEST_F(Records, NoFileIsNoRecordAndAnotherFileIsAnError) {
  EXPECT_TRUE(read(7).empty());
  std::ofstream(records_path(folder_, 7)) << "something that is not of any rank, and long enough";
  EXPECT_FALSE(read_records(folder_, 7));
}

TEST_F(Records, AreNeverWrittenOverThoseOfAnEarlierRun) {
  make({0, 1});
  EXPECT_FALSE(RecordsFile::create(folder_, {0, 1}));
}

}  // namespace
}  // namespace tlstrata::mpi

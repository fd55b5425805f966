#include "compare/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>

#include "compare/gate.h"
#include "compare/tables.h"
#include "report/transactions_csv.h"
#include "report/verdict.h"
#include "unit/report/sample.h"
#include "unit/report/scratch_folder.h"

namespace tlstrata::compare {
namespace {

using report::ScratchFolder;
using report::sample::Plan;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr std::size_t to_tls = 1;
constexpr std::size_t handshake = 2;

// Two folders of the sample's process.
class Two {
 public:
  using Change = std::function<void(report::sample::Folder&)>;

  Two(const Plan& a, const Plan& b, const Change& change_b = {}) {
    report::sample::write(report::sample::make(a), folder_.path() / "a");
    report::sample::Folder made = report::sample::make(b);
    if (change_b) {
      change_b(made);
    }
    report::sample::write(made, folder_.path() / "b");
  }

  [[nodiscard]] Checked<Compared> run(const Options& options = {}, const std::string& cell_a = "",
                                      const std::string& cell_b = "") const {
    return compare(find_source((folder_.path() / "a").string() + cell_a).value(),
                   find_source((folder_.path() / "b").string() + cell_b).value(), options);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return folder_.path(); }

 private:
  ScratchFolder folder_;
};

Two::Change slower(double by_us) {
  return [by_us](report::sample::Folder& folder) {
    for (strata::Transaction& row : folder.rows) {
      *row.layers[to_tls] += std::llround(by_us * 1e3);
      *row.total_ns += std::llround(by_us * 1e3);
    }
  };
}

const report::Comparison& against(const Compared& compared, std::size_t pair, std::size_t measure) {
  return *compared.summary.cells[compared.pairs[pair].b].versus_baseline[measure];
}

TEST(Compare, FindsWhatBecameSlowerAndWhatDidNot) {
  const Two two({.per_block = 60, .seed = 1}, {.per_block = 60, .seed = 2}, slower(41));
  const auto compared = two.run();
  ASSERT_TRUE(compared) << describe(compared.error());
  ASSERT_EQ(compared->pairs.size(), 6U);
  for (std::size_t pair = 0; pair < 6; ++pair) {
    const report::Comparison& found = against(*compared, pair, to_tls);
    EXPECT_TRUE(found.flagged);
    EXPECT_NEAR(found.difference.value, 41e3, 15e3);
    EXPECT_LT(found.hodges_lehmann_interval->low, 41e3);
    EXPECT_GT(found.hodges_lehmann_interval->high, 41e3);
    EXPECT_THAT(report::verdict(found),
                testing::MatchesRegex("\\+[0-9.]+ us \\([0-9.]+ to [0-9.]+ us\\), (large|medium)"));
    EXPECT_THAT(
        report::verdict(against(*compared, pair, handshake)),
        testing::MatchesRegex("no difference seen \\(-?[0-9.]+ to -?[0-9.]+ us\\), would have seen [0-9.]+ us"));
  }
  EXPECT_THAT(compared->notes, Contains(HasSubstr("measured at different times")));
  EXPECT_THAT(text_of(*compared), HasSubstr("X25519-4KiB (A: 600 rows in 10 blocks, B: 600 in 10)"));
}

TEST(Compare, OfTheSameIsNoDifference) {
  const Two two({.seed = 1}, {.seed = 1});
  const auto same = two.run();
  const auto like = Two({.seed = 1}, {.seed = 5}).run();
  ASSERT_TRUE(same && like);
  for (std::size_t pair = 0; pair < 6; ++pair) {
    for (std::size_t measure = 0; measure < report::measure_count; ++measure) {
      EXPECT_EQ(against(*same, pair, measure).difference.value, 0);
      EXPECT_FALSE(against(*same, pair, measure).flagged);
      EXPECT_FALSE(against(*like, pair, measure).flagged);
      EXPECT_THAT(report::verdict(against(*like, pair, measure)), HasSubstr("no difference seen"));
    }
  }
}

TEST(Compare, TwoCellsOfOneFolder) {
  const Two two({.per_block = 40}, {});
  const std::string folder = (two.path() / "a").string();
  const auto compared =
      compare(find_source(folder + ":X25519-4KiB").value(), find_source(folder + ":MLKEM1024-4KiB").value(), {});
  ASSERT_TRUE(compared) << describe(compared.error());
  ASSERT_EQ(compared->pairs.size(), 1U);
  EXPECT_EQ(compared->pairs[0].name, "MLKEM1024-4KiB against X25519-4KiB");
  EXPECT_TRUE(against(*compared, 0, to_tls).flagged);
  EXPECT_THAT(compared->notes, Contains(HasSubstr("compares across group: A X25519, B MLKEM1024"))) << "in full sight";
  EXPECT_THAT(compared->notes, Not(Contains(HasSubstr("different times"))));
  ASSERT_TRUE(compared->summary.cells[1].resources[0].cpu_ratio);
  EXPECT_NEAR(*compared->summary.cells[1].resources[0].cpu_ratio, 420.0 / 310, 0.05);
  EXPECT_FALSE(compare(find_source(folder + ":X25519-4KiB").value(), find_source(folder + ":none").value(), {}));
  EXPECT_FALSE(find_source(folder + "/none:X25519"));
}

TEST(Compare, RefusesToMixUnlessTold) {
  const auto message = [](const Two& two, const Options& options = {}) {
    const auto compared = two.run(options, ":X25519-4KiB", ":X25519-4KiB");
    return compared ? std::string() : describe(compared.error());
  };
  const Two some_hrr({}, {}, [](report::sample::Folder& folder) {
    for (std::size_t i = 0; i < 30; ++i) {
      folder.rows[i].connection.hrr = true;
    }
  });
  EXPECT_THAT(message(some_hrr),
              HasSubstr("B mixes unlike transactions: 170 of X25519; 30 of X25519, HelloRetryRequest"));
  Options mixed;
  mixed.mixed = true;
  const auto pooled = some_hrr.run(mixed, ":X25519-4KiB", ":X25519-4KiB");
  ASSERT_TRUE(pooled);
  EXPECT_THAT(pooled->notes, Contains(HasSubstr("MIXED: B of X25519-4KiB averages 170 of X25519; 30 of")));
  EXPECT_EQ(pooled->summary.cells[1].main()->n(), 200U);

  const auto all = [](auto change) {
    return [change](report::sample::Folder& folder) { std::ranges::for_each(folder.rows, change); };
  };
  const Two all_hrr({}, {}, all([](strata::Transaction& row) { row.connection.hrr = true; }));
  EXPECT_THAT(message(all_hrr), HasSubstr("HelloRetryRequest: A no, B yes"));
  Options across;
  across.across = parse_across("hrr,resumed").value();
  EXPECT_EQ(message(all_hrr, across), "");
  const Two all_resumed({}, {}, all([](strata::Transaction& row) { row.connection.resumed = true; }));
  EXPECT_THAT(message(all_resumed), HasSubstr("resumed: A no, B yes"));

  // Without naming two cells nobody said that groups are to be compared.
  const Two other_group({}, {}, all([](strata::Transaction& row) { row.connection.group = 0x11ec; }));
  const auto refused = other_group.run();
  ASSERT_FALSE(refused);
  EXPECT_THAT(describe(refused.error()), HasSubstr("group: A X25519, B X25519MLKEM768"));
  across.across = parse_across("group").value();
  EXPECT_TRUE(other_group.run(across));
  EXPECT_FALSE(parse_across("group,phase"));
}

TEST(Compare, FilesOfOtherToolsByTheirColumns) {
  const ScratchFolder folder;
  const auto write = [&](const char* name, double shift_us) {
    std::ofstream file(folder.path() / name);
    stats::Random random(shift_us > 0 ? 5 : 6);
    file << "run;gap_us\n";
    for (int run = 0; run < 8; ++run) {
      const double effect = 0.02 * report::sample::normal(random);
      for (int i = 0; i < 100; ++i) {
        file << "r" << run << ";" << 200 * std::exp(0.2 * report::sample::normal(random) + effect) + shift_us << "\n";
      }
    }
  };
  write("old.csv", 0);
  write("new.csv", 50);
  const auto run = [&](const char* columns, std::optional<std::uint32_t> slices = std::nullopt) {
    Options options;
    options.columns = {parse_columns(columns).value(), parse_columns(columns).value()};
    options.slices = slices;
    return compare(find_source((folder.path() / "old.csv").string()).value(),
                   find_source((folder.path() / "new.csv").string()).value(), options);
  };
  const auto compared = run("tcp_to_tls=gap_us:us,block=run");
  ASSERT_TRUE(compared) << describe(compared.error());
  EXPECT_TRUE(against(*compared, 0, to_tls).flagged);
  EXPECT_NEAR(against(*compared, 0, to_tls).difference.value, 50e3, 10e3);
  EXPECT_FALSE(compared->summary.cells[1].versus_baseline[handshake]);
  EXPECT_THAT(compared->notes, Contains(HasSubstr("A has no column for group, hrr, resumed")));

  const auto without = run("tcp_to_tls=gap_us:us");
  ASSERT_TRUE(without);
  EXPECT_FALSE(against(*without, 0, to_tls).difference.interval);
  EXPECT_THAT(report::verdict(against(*without, 0, to_tls)), HasSubstr("large; not tested: no blocks"));
  EXPECT_THAT(without->notes, Contains(HasSubstr("rows have no blocks, so nothing was repeated")));

  const auto sliced = run("tcp_to_tls=gap_us:us", 10);
  ASSERT_TRUE(sliced);
  EXPECT_EQ(sliced->summary.cells[0].blocks, 10U);
  EXPECT_TRUE(against(*sliced, 0, to_tls).difference.interval);
  EXPECT_THAT(sliced->notes, Contains(HasSubstr("not what varies between runs")));
}

TEST(Compare, GatesAreJudgedByFigures) {
  const Two two({.per_block = 40, .seed = 1}, {.per_block = 40, .seed = 2}, slower(41));
  const auto compared = two.run({}, ":X25519-4KiB", ":X25519-4KiB").value();
  const auto met = [&](const char* text, JudgeBy by = JudgeBy::estimate) {
    const auto judged = judge({parse_condition(text).value()}, compared, by);
    return judged.value().at(0).met;
  };
  EXPECT_TRUE(met("tcp_to_tls.p50 > +10%"));
  EXPECT_FALSE(met("tcp_to_tls.p50 > +50%"));
  EXPECT_TRUE(met("tcp_to_tls > +20us"));
  EXPECT_FALSE(met("tcp_to_tls > +80us"));
  EXPECT_TRUE(met("tcp_to_tls > 1.1x"));
  EXPECT_TRUE(met("tcp_to_tls.p99 > 100us"));
  EXPECT_TRUE(met("tcp_to_tls > +20us", JudgeBy::interval));
  EXPECT_FALSE(met("tls_handshake.p50 > +5%", JudgeBy::interval));
  EXPECT_TRUE(met("total > -90%"));
  EXPECT_FALSE(met("failures > 0%"));
  EXPECT_TRUE(met("failures >= 0%"));
  EXPECT_FALSE(met("client.cpu > +20%"));
  EXPECT_TRUE(met("cos > 0%"));
  EXPECT_TRUE(met("X25519-4KiB:tcp_to_tls > +20us"));
  EXPECT_FALSE(judge({parse_condition("other:tcp_to_tls > +20us").value()}, compared, JudgeBy::estimate));
  EXPECT_FALSE(judge({parse_condition("client.cpu > +20%").value()}, compared, JudgeBy::interval))
      << "a gate that cannot be judged must not look passed";
  const auto document = document_of(
      compared, judge({parse_condition("tcp_to_tls > +20us").value()}, compared, JudgeBy::estimate).value());
  EXPECT_TRUE(document["failed"].get<bool>());
  EXPECT_THAT(document["fail_if"][0]["reason"].get<std::string>(), HasSubstr("95 % interval"));
}

TEST(Compare, ShowsHostileNamesAsText) {
  const std::string hostile = "<script>alert(1)</script>=cmd()|\\input{x}\x1b[2J\xe2\x80\xae";
  const Two two({.blocks = 5, .per_block = 4, .hostile = hostile}, {.blocks = 5, .per_block = 4, .hostile = hostile});
  const auto compared = two.run();
  ASSERT_TRUE(compared) << describe(compared.error());
  const report::Grid grid = grid_of(*compared);
  for (const std::string& text : {text_of(*compared), markdown_of(*compared, {}), to_csv(grid), to_latex(grid)}) {
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_EQ(text.find("\xe2\x80\xae"), std::string::npos);
  }
  EXPECT_THAT(markdown_of(*compared, {}), Not(HasSubstr("<script")));
  EXPECT_THAT(to_latex(grid), Not(HasSubstr("\\input{")));
}

}  // namespace
}  // namespace tlstrata::compare

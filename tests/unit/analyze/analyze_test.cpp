#include "analyze/analyze.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>
#include <iterator>
#include <numeric>
#include <random>

#include "unit/analyze/captures.h"

namespace tlstrata::analyze::test {
namespace {

Input input_of(std::vector<std::string> captures, std::vector<std::string> key_logs) {
  Input input;
  input.captures = std::move(captures);
  input.key_logs = std::move(key_logs);
  return input;
}

Collected analysed(const Input& input, unsigned threads = 1) {
  Options options;
  options.threads = threads;
  auto analysis = collect(input, options);
  if (!analysis) {
    ADD_FAILURE() << describe(analysis.error());
    return {};
  }
  EXPECT_EQ(analysis->counts.packets.sum(), analysis->counts.file.packets) << "packets in = packets by fate";
  EXPECT_EQ(std::accumulate(analysis->counts.outcomes.begin(), analysis->counts.outcomes.end(), std::uint64_t{0}),
            analysis->rows.size())
      << "outcomes = rows";
  std::uint64_t last = 0;
  for (const auto& row : analysis->rows) {
    EXPECT_TRUE(row.connection.number == last || row.connection.number == last + 1) << "connections count up from 1";
    last = row.connection.number;
  }
  EXPECT_EQ(last, analysis->counts.connections);
  return std::move(*analysis);
}

std::vector<std::string> rows_text(const Input& input, unsigned threads = 1) {
  return texts_of(analysed(input, threads).rows);
}

const std::vector<std::string>& several() {
  static const std::vector<std::string> names{"grp_X25519.pcap",     "h1_keepalive.pcap", "port_reuse.pcap",
                                              "resume_tickets.pcap", "refused.pcap",      "h2_curl_multi.pcap"};
  return names;
}

// Real captures, with times moved so that their connections overlap.
std::vector<std::vector<Frame>> overlapping() {
  std::vector<std::vector<Frame>> captures;
  Nanos offset = 0;
  for (const std::string& name : several()) {
    captures.push_back(read_frames(field_path(name)));
    const Nanos shift = strata::test::capture_start + offset - captures.back().front().time_ns;
    for (Frame& frame : captures.back()) {
      frame.time_ns += shift;
    }
    offset += 1'234'567;
  }
  return captures;
}

std::vector<std::string> several_keys() {
  std::vector<std::string> paths;
  for (const std::string& name : several()) {
    if (name != "refused.pcap") {
      paths.push_back(keys_path(name));
    }
  }
  return paths;
}

TEST(Analyze, SeveralFilesInAnyOrderAreTheMergedOne) {
  const Scratch scratch;
  const auto captures = overlapping();
  const std::string merged = scratch.write("merged.pcap", strata::test::merge(captures));
  const auto expected = rows_text(input_of({merged}, several_keys()));
  EXPECT_GT(expected.size(), 15U);
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < captures.size(); ++i) {
    paths.push_back(scratch.write("part" + std::to_string(i) + ".pcap", captures[i]));
  }
  std::mt19937 random(4);
  for (int round = 0; round < 4; ++round) {
    auto keys = several_keys();
    std::ranges::shuffle(paths, random);
    std::ranges::shuffle(keys, random);
    EXPECT_EQ(rows_text(input_of(paths, keys)), expected) << "order " << round;
    EXPECT_EQ(rows_text(input_of(paths, keys), 3), expected) << "order " << round << ", three threads";
  }
}

// Compressed, its packets do not stay where they are.
std::string packed(const Scratch& scratch, const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  std::string made = scratch.path("packed.gz");
  gzFile gzip = gzopen(made.c_str(), "wb");
  EXPECT_EQ(gzwrite(gzip, bytes.data(), static_cast<unsigned>(bytes.size())), static_cast<int>(bytes.size()));
  EXPECT_EQ(gzclose(gzip), Z_OK);
  return made;
}

TEST(Analyze, AnyNumberOfThreadsGivesTheSameRows) {
  for (const char* name : {"many_parallel.pcap", "loss5.pcap", "chromium_h2.pcap", "any_router_sll1.pcap"}) {
    const Scratch scratch;
    const Collected one = analysed(input_of({field_path(name)}, {keys_path(name)}));
    for (const std::string& capture : {field_path(name), packed(scratch, field_path(name))}) {
      const Input input = input_of({capture}, {keys_path(name)});
      for (unsigned threads = 1; threads <= 4; ++threads) {
        const Collected more = analysed(input, threads);
        EXPECT_EQ(texts_of(more.rows), texts_of(one.rows)) << capture << " with " << threads;
        EXPECT_EQ(more.counts.packets.tcp, one.counts.packets.tcp);
        EXPECT_EQ(more.counts.packets.no_connection, one.counts.packets.no_connection);
        EXPECT_EQ(more.counts.outcomes, one.counts.outcomes);
      }
    }
  }
}

TEST(Analyze, OneConnectionAcrossTwoFiles) {
  const Scratch scratch;
  const std::string name = "h1_keepalive.pcap";
  const std::vector<Frame> frames = read_frames(field_path(name));
  const auto expected = rows_text(input_of({scratch.write("whole.pcap", frames)}, {keys_path(name)}));
  for (std::size_t cut = 1; cut < frames.size(); cut += frames.size() / 7) {
    const auto middle = frames.begin() + static_cast<std::ptrdiff_t>(cut);
    const std::string first = scratch.write("first.pcap", {frames.begin(), middle});
    const std::string second = scratch.write("second.pcap", {middle, frames.end()});
    EXPECT_EQ(rows_text(input_of({first, second}, {keys_path(name)})), expected) << "cut at packet " << cut;
    EXPECT_EQ(rows_text(input_of({second, first}, {keys_path(name)})), expected) << "the later file first";
  }
}

TEST(Analyze, RowsComeInOrderOfTheConnectionsStart) {
  const Collected analysis =
      analysed(input_of({field_path("many_parallel.pcap")}, {keys_path("many_parallel.pcap")}), 2);
  EXPECT_GT(analysis.rows.size(), 30U);
  for (std::size_t i = 1; i < analysis.rows.size(); ++i) {
    const auto& before = analysis.rows[i - 1];
    const auto& row = analysis.rows[i];
    EXPECT_LE(before.connection.start_ns, row.connection.start_ns);
    EXPECT_TRUE(before.connection.number < row.connection.number || before.request < row.request);
  }
}

TEST(Analyze, KeysInsideTheCaptureAreUsed) {
  for (unsigned threads = 1; threads <= 3; ++threads) {
    const Collected analysis = analysed(input_of({field_path("embedded.pcapng")}, {}), threads);
    ASSERT_FALSE(analysis.rows.empty());
    for (const auto& row : analysis.rows) {
      EXPECT_EQ(row.outcome, strata::Outcome::complete);
      EXPECT_EQ(row.boundary, strata::Boundary::decrypted);
    }
    EXPECT_GT(analysis.counts.file.secrets, 0U);
  }
}

TEST(Analyze, KeyLogsThatAreOfNoUseAreWarnedOf) {
  const Scratch scratch;
  const std::string capture = field_path("grp_X25519.pcap");
  const auto warnings = [&](const std::string& key_log) { return analysed(input_of({capture}, {key_log})).warnings; };
  EXPECT_TRUE(warnings(keys_path("grp_X25519.pcap")).empty());
  const auto of_others = warnings(keys_path("loss5.pcap"));
  ASSERT_EQ(of_others.size(), 1U);
  EXPECT_TRUE(of_others[0].starts_with("none of the ")) << of_others[0];
  const auto none = warnings(scratch.write_text("log", "# comment\nhello\n"));
  ASSERT_EQ(none.size(), 1U);
  EXPECT_TRUE(
      none[0].ends_with("log: no secret in it, and 1 lines of something else; a key log is the text file that "
                        "SSLKEYLOGFILE names"))
      << none[0];
}

TEST(Analyze, KeysOfOtherConnectionsDoNotMatter) {
  const Input own = input_of({field_path("grp_X25519.pcap")}, {keys_path("grp_X25519.pcap")});
  Input all = own;
  all.key_logs = {keys_path("many_parallel.pcap"), keys_path("keys_junk.pcap"), keys_path("grp_X25519.pcap"),
                  keys_path("grp_X25519.pcap")};
  EXPECT_EQ(rows_text(all), rows_text(own));
  EXPECT_GT(analysed(all).counts.keys.duplicates, 0U);
}

TEST(Analyze, ACaptureThatIsCutOffGivesWhatStandsBefore) {
  const Scratch scratch;
  const std::string name = "grp_X25519.pcap";
  const std::vector<Frame> frames = read_frames(field_path(name));
  const std::string whole = scratch.write("whole.pcap", frames);
  const auto expected = rows_text(input_of({whole}, {keys_path(name)}));
  std::vector<Frame> with_tail = frames;
  with_tail.push_back(frames.back());
  const std::string cut = scratch.write("cut.pcap", with_tail);
  std::filesystem::resize_file(cut, std::filesystem::file_size(cut) - 5);
  const Collected analysis = analysed(input_of({cut}, {keys_path(name)}));
  EXPECT_EQ(texts_of(analysis.rows), expected);
  EXPECT_TRUE(analysis.counts.file.truncated);
  EXPECT_EQ(analysis.counts.truncated_files, 1U);
  EXPECT_EQ(analysis.warnings.size(), 1U);
}

TEST(Analyze, UnusableInputsAreComplaints) {
  const Scratch scratch;
  const std::string text = scratch.write_text("notes.txt", "this is no capture, whatever its name says\n");
  const std::string good = field_path("grp_X25519.pcap");
  const std::vector<Input> inputs{input_of({text}, {}), input_of({good, text}, {}), input_of({good + ".missing"}, {}),
                                  input_of({good}, {good + ".missing"}),
                                  input_of({scratch.write_text("empty.pcap", "")}, {})};
  for (const Input& input : inputs) {
    const auto analysis = collect(input, {});
    ASSERT_FALSE(analysis) << input.captures.back();
    EXPECT_FALSE(analysis.error().where.empty());
    EXPECT_FALSE(analysis.error().remedy.empty());
    EXPECT_EQ(analysis.error().exit_code, ExitCode::unusable);
  }
}

TEST(Analyze, ACaptureWithoutPacketsHasNoRows) {
  const Scratch scratch;
  const Collected analysis = analysed(input_of({scratch.write("none.pcap", {})}, {}));
  EXPECT_TRUE(analysis.rows.empty());
  EXPECT_EQ(analysis.counts.file.packets, 0U);
}

TEST(Analyze, CountsOfSeveralAnalysesAddUp) {
  Counts sum;
  for (const char* name : {"grp_X25519.pcap", "refused.pcap"}) {
    add(sum, analysed(input_of({field_path(name)}, {})).counts);
  }
  EXPECT_EQ(sum.packets.sum(), sum.file.packets);
  EXPECT_EQ(sum.file.packets,
            read_frames(field_path("grp_X25519.pcap")).size() + read_frames(field_path("refused.pcap")).size());
  EXPECT_EQ(sum.outcomes[static_cast<std::size_t>(strata::Outcome::refused)], 2U);
}

// Every field capture: packets and rows balance, whatever is wrong with it; keys or none, the connections are the same.
TEST(Analyze, EveryFieldCaptureBalances) {
  std::size_t captures = 0;
  for (const auto& entry : std::filesystem::directory_iterator(field_path(""))) {
    const std::string extension = entry.path().extension().string();
    if ((extension != ".pcap" && extension != ".pcapng") || entry.file_size() > 1'000'000) {
      continue;
    }
    ++captures;
    const std::string path = entry.path().string();
    const std::string keys = keys_path(entry.path().filename().string());
    const Collected closed = analysed(input_of({path}, {}), 2);
    if (std::filesystem::exists(keys)) {
      const Collected open = analysed(input_of({path}, {keys}), 2);
      EXPECT_EQ(open.counts.connections, closed.counts.connections) << path;
      for (const auto& row : open.rows) {
        Nanos sum = 0;
        for (const auto& layer : row.layers) {
          EXPECT_GE(layer.value_or(0), 0) << path;
          sum += layer.value_or(0);
        }
        EXPECT_TRUE(!row.has_all_layers() || sum == row.total_ns) << path << ' ' << text_of(row);
      }
    }
  }
  EXPECT_GT(captures, 60U);
}

}  // namespace
}  // namespace tlstrata::analyze::test

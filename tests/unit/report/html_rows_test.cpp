#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/iana.h"
#include "report/html_data.h"
#include "report/ladders.h"
#include "report/packed.h"
#include "tcp/address.h"
#include "unit/report/sample.h"
#include "unit/report/scratch_folder.h"

namespace tlstrata::report {
namespace {

// The other direction, written anew: base64 and LEB128 as their definitions say.
std::vector<std::uint64_t> unpacked(const std::string& text) {
  std::string bytes;
  std::uint32_t bits = 0;
  int have = 0;
  for (const char c : text) {
    const std::size_t digit =
        std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/").find(c);
    if (c == '=') {
      break;
    }
    EXPECT_NE(digit, std::string_view::npos);
    bits = (bits << 6U) | static_cast<std::uint32_t>(digit);
    have += 6;
    if (have >= 8) {
      have -= 8;
      bytes += static_cast<char>((bits >> have) & 0xFFU);
    }
  }
  std::vector<std::uint64_t> values;
  std::uint64_t value = 0;
  unsigned shift = 0;
  for (const char c : bytes) {
    const auto byte = static_cast<std::uint8_t>(c);
    value |= std::uint64_t{byte & 0x7FU} << shift;
    shift += 7;
    if (byte < 0x80) {
      values.push_back(value);
      value = 0;
      shift = 0;
    }
  }
  EXPECT_EQ(shift, 0U) << "ends inside a number";
  return values;
}

std::int64_t unfolded(std::uint64_t value) {
  return value % 2 == 0 ? static_cast<std::int64_t>(value / 2) : -static_cast<std::int64_t>(value / 2) - 1;
}

Results results_of(const sample::Plan& plan) {
  const ScratchFolder folder;
  sample::write(sample::make(plan), folder.path());
  return *read_results(folder.path());
}

TEST(Packed, HoldsNumbersOfAnySize) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");  // RFC 4648, section 10
  PackedColumn column;
  const std::vector<std::uint64_t> values{0, 1, 127, 128, 16383, 16384, std::uint64_t{1} << 53U, ~std::uint64_t{0}};
  for (const std::uint64_t value : values) {
    column.add(value);
  }
  EXPECT_EQ(unpacked(column.text()), values);
  PackedColumn folded;
  const std::vector<std::int64_t> numbers{0, -1, 1, -64, 64, INT64_MAX, INT64_MIN};
  for (const std::int64_t number : numbers) {
    folded.add_signed(number);
  }
  const auto back = unpacked(folded.text());
  ASSERT_EQ(back.size(), numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    EXPECT_EQ(unfolded(back[i]), numbers[i]);
  }
  PackedColumn sparse;
  sparse.add_or_absent(std::optional<std::uint32_t>());
  sparse.add_or_absent(std::optional<std::uint32_t>(0));
  EXPECT_EQ(unpacked(sparse.text()), (std::vector<std::uint64_t>{0, 1}));
}

TEST(PageRows, AreTheTransactions) {
  Results results = results_of({.blocks = 5, .per_block = 4});
  strata::Transaction& odd = results.rows[7];
  odd.layers[3].reset();
  odd.outcome = strata::Outcome::reset;
  odd.last_byte_ns.reset();
  results.rows[8].layers.fill(std::nullopt);
  results.rows[8].total_ns.reset();
  const Json page = page_rows(results);
  ASSERT_EQ(page["count"], results.rows.size());
  std::map<std::string, std::vector<std::uint64_t>> columns;
  for (const auto& [name, text] : page["columns"].items()) {
    columns[name] = unpacked(text.get<std::string>());
    ASSERT_EQ(columns[name].size(), results.rows.size()) << name;
  }
  std::int64_t start_ns = 0;
  const Nanos origin_ns = std::stoll(page["origin_ns"].get<std::string>());
  for (std::size_t i = 0; i < results.rows.size(); ++i) {
    const strata::Transaction& row = results.rows[i];
    start_ns += unfolded(columns["start_ns"][i]);
    EXPECT_EQ(start_ns + origin_ns, row.connection.start_ns);
    EXPECT_EQ(page["names"]["cells"][columns["cell"][i]], row.cell);
    EXPECT_EQ(columns["block"][i], *row.block + 1);
    std::uint64_t sum = 0;
    for (std::size_t layer = 0; layer < strata::layer_count; ++layer) {
      const std::uint64_t packed = columns[std::string(strata::layer_names[layer]) + "_ns"][i];
      EXPECT_EQ(packed, row.layers[layer] ? static_cast<std::uint64_t>(*row.layers[layer]) + 1 : 0);
      sum += packed == 0 ? 0 : packed - 1;
    }
    const std::uint64_t total = columns["total_ns"][i];
    EXPECT_EQ(total != 0, row.total_ns.has_value());
    EXPECT_EQ(total == 1 ? sum : total - 2, static_cast<std::uint64_t>(row.total_ns.value_or(-2))) << i;
    const std::uint64_t last = columns["last_byte_ns"][i];
    EXPECT_EQ(last != 0, row.last_byte_ns.has_value());
    if (last != 0) {
      EXPECT_EQ(unfolded(last - 1) + row.total_ns.value_or(0), *row.last_byte_ns);
    }
    EXPECT_EQ(page["names"]["outcomes"][columns["outcome"][i]], strata::name(row.outcome));
    EXPECT_EQ(page["names"]["words"][columns["group"][i]], group_name(*row.connection.group));
    EXPECT_EQ(columns["client_port"][i], row.connection.client.port);
    EXPECT_EQ(columns["client_hello_bytes"][i], *row.connection.client_hello_bytes + 1);
  }
}

TEST(PageRows, BeyondTheirNumberKeepWhatFailed) {
  Results results = results_of({.blocks = 10, .per_block = 20});
  for (const std::size_t failed : {std::size_t{3}, std::size_t{500}, results.rows.size() - 1}) {
    results.rows[failed].outcome = strata::Outcome::tls_alert;
  }
  const Json page = page_rows(results, 100);
  EXPECT_EQ(page["total"], results.rows.size());
  ASSERT_EQ(page["count"], 100);
  std::map<std::string, int> outcomes;
  for (const std::uint64_t outcome : unpacked(page["columns"]["outcome"].get<std::string>())) {
    ++outcomes[strata::outcome_names[outcome]];
  }
  EXPECT_EQ(outcomes["tls_alert"], 3);
  EXPECT_EQ(outcomes["complete"], 97);
  EXPECT_EQ(page_rows(results, 100), page) << "the same ones each time";
}

TEST(Ladders, AreDrawnOfFailedSlowestAndSome) {
  Results results = results_of({.blocks = 10, .per_block = 50});
  std::map<std::string, std::size_t> slowest;
  for (std::size_t i = 0; i < results.rows.size(); ++i) {
    if (i % 100 == 0) {
      results.rows[i].outcome = strata::Outcome::no_response;
      results.rows[i].total_ns.reset();
    }
    const auto best = slowest.try_emplace(results.rows[i].cell, i).first;
    if (results.rows[i].total_ns.value_or(0) > results.rows[best->second].total_ns.value_or(0)) {
      best->second = i;
    }
  }
  const std::vector<std::size_t> chosen = rows_to_draw(results);
  EXPECT_EQ(chosen.size(), 6 * most_ladders);
  EXPECT_TRUE(std::ranges::is_sorted(chosen));
  EXPECT_EQ(std::ranges::adjacent_find(chosen), chosen.end()) << "none twice";
  for (std::size_t i = 0; i < results.rows.size(); i += 100) {
    EXPECT_TRUE(std::ranges::binary_search(chosen, i)) << "failed: " << i;
  }
  for (const auto& [cell, row] : slowest) {
    EXPECT_TRUE(std::ranges::binary_search(chosen, row)) << "slowest of " << cell;
  }
  EXPECT_EQ(rows_to_draw(results), chosen);

  results.rows.resize(30);
  EXPECT_EQ(rows_to_draw(results).size(), 30U) << "all, where there are few";
}

TEST(Ladders, ArePackedLineByLine) {
  const Results results = results_of({.blocks = 1, .per_block = 1});
  Ladders ladders;
  ladders.missing = "one capture";
  ladders.drawn.push_back({1,
                           {{LadderLine::Kind::boundary, 0, 0, true, "tcp_handshake", 20'000},
                            {LadderLine::Kind::packet, 0, 38, true, "SYN", 0},
                            {LadderLine::Kind::message, 230'000, 41, false, "ServerHello, <b>", 122}}});
  const Json json = to_json(ladders, results);
  EXPECT_EQ(json["missing"], "one capture");
  EXPECT_EQ(json["names"], Json({"tcp_handshake", "SYN", "ServerHello, <b>"}));
  const Json& drawn = json["drawn"][0];
  EXPECT_EQ(drawn[0], results.rows[1].cell);
  EXPECT_EQ(drawn[3], 3);
  EXPECT_EQ(unpacked(drawn[5].get<std::string>()),
            (std::vector<std::uint64_t>{5, 0, 0, 0, 20'000, 1, 0, 76, 1, 0, 2, 460'000, 6, 2, 122}));
  ladders.drawn[0].lines.resize(most_ladder_lines + 7);
  EXPECT_EQ(to_json(ladders, results)["drawn"][0][4], 7) << "left out";
}

}  // namespace
}  // namespace tlstrata::report

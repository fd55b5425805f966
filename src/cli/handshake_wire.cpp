#include "cli/handshake_wire.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace tlstrata::cli {
namespace {

using handshake::CostSample;
using report::Json;

// The numbers of a sample in one order, for writing and for reading.
template <typename Costs, typename Visit>
void visit_numbers(Costs& sample, Visit visit) {
  visit(sample.total_ns);
  auto& costs = sample.costs;
  for (auto& each : costs.key_generation_ns) {
    visit(each);
  }
  visit(costs.key_generations);
  visit(costs.key_agreement_ns);
  visit(costs.encapsulation_ns);
  visit(costs.chain_ns);
  visit(costs.signature_ns);
  visit(costs.signing_ns);
  for (auto& each : costs.detail_ns) {
    visit(each);
  }
  visit(costs.brackets);
}

Json encode(const handshake::SideAccount& account) {
  Json json{{"total", account.total}, {"signature", account.signature_bytes}};
  json["lines"] = Json::array();
  for (const auto& line : account.lines) {
    json["lines"].push_back({line.message, line.field, line.detail, line.bytes});
  }
  json["records"] = Json::array();
  for (const auto& record : account.records) {
    json["records"].push_back({record.type, record.messages, record.bytes});
  }
  json["messages"] = Json::array();
  for (const auto& message : account.messages) {
    json["messages"].push_back({message.name, message.bytes});
  }
  return json;
}

// The library throws where a line is not what it should be; the two callers below catch it.
handshake::SideAccount side_account(const Json& json) {
  handshake::SideAccount account;
  account.total = json.at("total").get<std::uint32_t>();
  account.signature_bytes = json.at("signature").get<std::uint32_t>();
  for (const Json& line : json.at("lines")) {
    account.lines.push_back({line.at(0).get<std::string>(), line.at(1).get<std::string>(),
                             line.at(2).get<std::string>(), line.at(3).get<std::uint32_t>()});
  }
  for (const Json& record : json.at("records")) {
    account.records.push_back(
        {record.at(0).get<std::string>(), record.at(1).get<std::string>(), record.at(2).get<std::uint32_t>()});
  }
  for (const Json& message : json.at("messages")) {
    account.messages.push_back({message.at(0).get<std::string>(), message.at(1).get<std::uint32_t>()});
  }
  return account;
}

std::unexpected<Complaint> not_a_line() {
  return std::unexpected(Complaint{"a worker said what it should not", "--openssl", "see what it said above"});
}

}  // namespace

Json encode(const handshake::FirstLook& first) {
  Json json{
      {"agreement", {first.agreement.version, first.agreement.cipher, first.agreement.group, first.agreement.resumed}},
      {"retry", first.account.retry}};
  json["flights"] = Json::array();
  for (const handshake::Flight& flight : first.flights) {
    json["flights"].push_back({handshake::at(flight.side), flight.bytes});
  }
  json["sides"] = Json::array();
  for (const auto& side : first.account.sides) {
    json["sides"].push_back(encode(side));
  }
  return json;
}

Json encode(const handshake::MeasuredBlock& block) {
  Json samples = Json::array();
  for (const handshake::Sample& sample : block.block.samples) {
    samples.push_back({sample.cpu_ns[0], sample.cpu_ns[1], sample.bytes[0], sample.bytes[1]});
  }
  Json costs = Json::array();
  for (const auto& side : block.costs) {
    Json all = Json::array();
    for (const CostSample& sample : side) {
      Json numbers = Json::array();
      visit_numbers(sample, [&](auto number) { numbers.push_back(number); });
      all.push_back(std::move(numbers));
    }
    costs.push_back(std::move(all));
  }
  Json floor = Json::array();
  for (const handshake::FloorSample& sample : block.floor) {
    floor.push_back({sample[0], sample[1]});
  }
  return {{"run", block.block.run},
          {"wall_ns", block.block.wall_ns},
          {"samples", std::move(samples)},
          {"costs", std::move(costs)},
          {"floor", std::move(floor)}};
}

Checked<handshake::FirstLook> decode_first(const Json& json) {
  try {
    handshake::FirstLook first;
    const Json& agreement = json.at("agreement");
    first.agreement = {agreement.at(0).get<std::uint16_t>(), agreement.at(1).get<std::uint16_t>(),
                       agreement.at(2).get<std::uint16_t>(), agreement.at(3).get<bool>()};
    first.account.retry = json.at("retry").get<bool>();
    for (const Json& flight : json.at("flights")) {
      first.flights.push_back(
          {flight.at(0).get<int>() == 0 ? ossl::Side::client : ossl::Side::server, flight.at(1).get<std::uint64_t>()});
    }
    for (std::size_t side = 0; side < handshake::side_count; ++side) {
      first.account.sides[side] = side_account(json.at("sides").at(side));
    }
    return first;
  } catch (const Json::exception&) {
    return not_a_line();
  }
}

Checked<handshake::MeasuredBlock> decode_block(const Json& json) {
  try {
    handshake::MeasuredBlock block;
    block.block.run = json.at("run").get<std::uint32_t>();
    block.block.wall_ns = json.at("wall_ns").get<Nanos>();
    for (const Json& each : json.at("samples")) {
      handshake::Sample sample;
      sample.cpu_ns = {each.at(0).get<Nanos>(), each.at(1).get<Nanos>()};
      sample.bytes = {each.at(2).get<std::uint32_t>(), each.at(3).get<std::uint32_t>()};
      block.block.samples.push_back(sample);
    }
    for (std::size_t side = 0; side < handshake::side_count; ++side) {
      for (const Json& numbers : json.at("costs").at(side)) {
        CostSample sample;
        std::size_t next = 0;
        visit_numbers(sample, [&](auto& number) {
          number = numbers.at(next++).get<std::remove_reference_t<decltype(number)>>();
        });
        block.costs[side].push_back(sample);
      }
    }
    for (const Json& each : json.at("floor")) {
      block.floor.push_back({each.at(0).get<Nanos>(), each.at(1).get<Nanos>()});
    }
    return block;
  } catch (const Json::exception&) {
    return not_a_line();
  }
}

}  // namespace tlstrata::cli

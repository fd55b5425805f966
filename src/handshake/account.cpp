#include "handshake/account.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/byte_reader.h"
#include "handshake/messages.h"

namespace tlstrata::handshake {
namespace {

constexpr std::uint32_t record_header_bytes = 5;  // RFC 8446 section 5.1
constexpr std::uint32_t inner_type_bytes = 1;     // section 5.2

using Kind = ossl::TraceEvent::Kind;

// Puts records and messages together: the library tells a record's header, then that it is protected, and then the message
// whose last part is in it.
class Bookkeeper {
 public:
  Result<SideAccount> account(std::span<const ossl::TraceEvent> trace);

 private:
  struct Open {
    std::uint32_t content = 0;  // declared, with protection
    bool is_protected = false;
  };
  Result<void> record(std::span<const std::uint8_t> header);
  Result<void> content(const std::string& name, std::uint32_t size, const char* type);
  Result<void> message(std::span<const std::uint8_t> bytes);
  void finish_totals();

  SideAccount account_;
  std::vector<Open> open_;  // records that no message accounts for yet
  unsigned hellos_ = 0;
  std::uint32_t protected_records_ = 0;
  std::uint32_t protection_bytes_ = 0;
};

Result<void> Bookkeeper::record(std::span<const std::uint8_t> header) {
  ByteReader reader(header);
  reader.skip(3);
  const std::uint16_t length = reader.u16();
  if (auto whole = reader.finish("record header"); !whole) {
    return whole;
  }
  open_.push_back({length, false});
  return {};
}

// `size` bytes of content fill the open records; what is left of each is its protection, the same in all.
Result<void> Bookkeeper::content(const std::string& name, std::uint32_t size, const char* type) {
  std::uint32_t declared = 0;
  std::uint32_t guarded = 0;
  for (const Open& open : open_) {
    declared += open.content;
    guarded += open.is_protected ? 1 : 0;
  }
  const std::uint32_t beyond = declared - size;
  if (open_.empty() || declared < size || (guarded == 0 ? beyond != 0 : beyond % guarded != 0)) {
    return std::unexpected(Error{ErrorCode::malformed, "records hold bytes that no message accounts for"});
  }
  for (const Open& open : open_) {
    account_.records.push_back({open.is_protected ? fmt::format("protected {}", type) : type,
                                open_.size() > 1 ? name + " (part)" : name, record_header_bytes + open.content});
  }
  protected_records_ += guarded;
  protection_bytes_ += beyond;
  open_.clear();
  return {};
}

Result<void> Bookkeeper::message(std::span<const std::uint8_t> bytes) {
  auto dissected = account_of_message(bytes);
  if (!dissected) {
    return std::unexpected(dissected.error());
  }
  std::string name = dissected->name;
  if (name == "ClientHello" && ++hellos_ > 1) {
    name += fmt::format(" {}", hellos_);
  }
  for (AccountLine& line : dissected->lines) {
    line.message = name;
    account_.lines.push_back(std::move(line));
  }
  account_.signature_bytes += dissected->signature_bytes;
  account_.messages.push_back({name, static_cast<std::uint32_t>(bytes.size())});
  return content(name, static_cast<std::uint32_t>(bytes.size()), "handshake");
}

void Bookkeeper::finish_totals() {
  const auto records = static_cast<std::uint32_t>(account_.records.size());
  account_.lines.push_back(
      {"records", "headers", fmt::format("{} x {}", records, record_header_bytes), records * record_header_bytes});
  if (protected_records_ != 0) {
    const std::uint32_t each = protection_bytes_ / protected_records_;
    account_.lines.push_back(
        {"records", "protection",
         fmt::format("{} x ({} inner type + {} tag)", protected_records_, inner_type_bytes, each - inner_type_bytes),
         protection_bytes_});
  }
  for (const AccountLine& line : account_.lines) {
    account_.total += line.bytes;
  }
}

Result<SideAccount> Bookkeeper::account(std::span<const ossl::TraceEvent> trace) {
  for (const ossl::TraceEvent& event : trace) {
    Result<void> done;
    switch (event.kind) {
      case Kind::inner:
        if (!open_.empty()) {
          open_.back().is_protected = true;
        }
        break;
      case Kind::record:
        done = record(event.bytes);
        break;
      case Kind::handshake:
        done = message(event.bytes);
        break;
      case Kind::change_cipher_spec:
        account_.lines.push_back({"ChangeCipherSpec", "body", {}, static_cast<std::uint32_t>(event.bytes.size())});
        done = content("ChangeCipherSpec", static_cast<std::uint32_t>(event.bytes.size()), "change_cipher_spec");
        break;
      case Kind::alert:
        done = std::unexpected(Error{ErrorCode::malformed, "an alert within the handshake"});
        break;
    }
    if (!done) {
      return std::unexpected(done.error());
    }
  }
  if (!open_.empty()) {
    return std::unexpected(Error{ErrorCode::malformed, "a record without a message"});
  }
  finish_totals();
  return std::move(account_);
}

bool is_same_place(const AccountLine& a, const AccountLine& b) {
  return a.message == b.message && a.field == b.field;
}

}  // namespace

Result<SideAccount> account_of(std::span<const ossl::TraceEvent> trace) {
  return Bookkeeper().account(trace);
}

Result<Account> account_of(const PerSide<ossl::Trace>& traces) {
  Account account;
  for (std::size_t side = 0; side < side_count; ++side) {
    auto one = account_of(traces[side]);
    if (!one) {
      return std::unexpected(one.error());
    }
    account.sides[side] = std::move(*one);
  }
  account.retry = std::ranges::any_of(account.sides[at(ossl::Side::server)].messages,
                                      [](const AccountMessage& m) { return m.name == "HelloRetryRequest"; });
  return account;
}

std::vector<AccountDifference> difference(const SideAccount& before, const SideAccount& after) {
  std::vector<AccountDifference> result;
  const auto find = [](const SideAccount& account, const AccountLine& line) {
    return std::ranges::find_if(account.lines, [&](const AccountLine& each) { return is_same_place(each, line); });
  };
  for (const AccountLine& line : after.lines) {
    const auto old = find(before, line);
    const bool is_new = old == before.lines.end();
    const std::int64_t change = std::int64_t{line.bytes} - (is_new ? 0 : std::int64_t{old->bytes});
    if (change != 0) {
      result.push_back({line.message, line.field, is_new ? std::string() : old->detail, line.detail, change});
    }
  }
  for (const AccountLine& line : before.lines) {
    if (find(after, line) == after.lines.end()) {
      result.push_back({line.message, line.field, line.detail, {}, -std::int64_t{line.bytes}});
    }
  }
  return result;
}

}  // namespace tlstrata::handshake

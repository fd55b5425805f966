// Every byte of a handshake by name: direction, record, message, field and extension; and what two of them differ by.
//
// In:        what both sides sent, in plaintext and in order (ossl::Trace).
// Out:       lines whose sum is what was sent; records with the messages inside; the differences of two accounts, whose sum
//            is the difference of their totals.
// Units:     bytes on the wire.
// Errors:    malformed where a message breaks the RFC's rules, or a record holds what no message accounts for: there is no
//            "other".
// Threads:   pure functions.
// Source:    RFC 8446 sections 4 and 5; IANA, "TLS ExtensionType Values" for the names.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "handshake/exchange.h"

namespace tlstrata::handshake {

struct AccountLine {
  std::string message;  // "ClientHello", "ClientHello 2" after a retry, "records"
  std::string field;    // "key_share", "header", "certificate 1"
  std::string detail;   // what the bytes are: "X25519MLKEM768 1216"; empty: the field's name says it
  std::uint32_t bytes = 0;
};

struct AccountRecord {
  std::string type;      // "handshake", "change_cipher_spec", "protected handshake"
  std::string messages;  // in it, joined with ", "; a part of one as "Certificate (part)"
  std::uint32_t bytes = 0;
};

struct AccountMessage {
  std::string name;
  std::uint32_t bytes = 0;  // with its header, without records
};

struct SideAccount {
  std::vector<AccountLine> lines;
  std::vector<AccountRecord> records;
  std::vector<AccountMessage> messages;
  std::uint32_t total = 0;            // of the lines, and what was sent
  std::uint32_t signature_bytes = 0;  // of CertificateVerify, whose length varies with ECDSA; 0: none
};

struct Account {
  PerSide<SideAccount> sides;
  bool retry = false;  // a HelloRetryRequest was sent
};

Result<SideAccount> account_of(std::span<const ossl::TraceEvent> trace);
Result<Account> account_of(const PerSide<ossl::Trace>& traces);

struct AccountDifference {
  std::string message;
  std::string field;
  std::string before;  // details of both; empty: not there
  std::string after;
  std::int64_t bytes = 0;
};

// Lines that differ, in the order of `after`; those that only `before` has stand where they stood.
std::vector<AccountDifference> difference(const SideAccount& before, const SideAccount& after);

}  // namespace tlstrata::handshake

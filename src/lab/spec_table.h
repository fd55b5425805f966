// Reads one table of a specification key by key, and in the end refuses what nobody asked for.
//
// In:        a toml::table that outlives the reader; values go straight into the caller's fields, which keep their
//            default where the key is absent.
// Errors:    sticky, as base/byte_reader.h: the first problem of all tables of a file is kept in the shared
//            SpecProblem, and the caller asks once. finish() is what finds unknown keys.
// Units:     as spec.h.
#pragma once

#include <toml++/toml.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/complaint.h"
#include "base/nanos.h"

namespace tlstrata::lab {

// The first problem of a file.
class SpecProblem {
 public:
  explicit SpecProblem(std::string_view file) : file_(file) {}
  void report(const toml::source_region& at, std::string what, std::string remedy);
  [[nodiscard]] const std::optional<Complaint>& first() const { return first_; }

 private:
  std::string file_;
  std::optional<Complaint> first_;
};

class SpecTable {
 public:
  // `path`: "" for the file's own keys, "capture." for those of [capture].
  SpecTable(const toml::table& table, std::string path, SpecProblem& problem)
      : table_(table), path_(std::move(path)), problem_(problem) {}

  void text(std::string_view key, std::string& into);
  void choice(std::string_view key, std::initializer_list<std::string_view> choices, std::string& into);
  void integer(std::string_view key, std::uint64_t least, std::uint64_t most, std::uint64_t& into);
  void integer(std::string_view key, std::uint64_t least, std::uint64_t most, std::uint32_t& into);
  void boolean(std::string_view key, bool& into);
  void duration(std::string_view key, Nanos least_ns, Nanos most_ns, Nanos& into);
  void size(std::string_view key, std::uint64_t least, std::uint64_t most, std::uint64_t& into);
  // One rate out of a list's element or a key's value; `named` for errors.
  std::optional<double> rate_of(const toml::node& value, std::string_view named, double least, double most);

  // The value itself, for shapes that only one key has; nullptr where the key is absent.
  const toml::node* node(std::string_view key);
  // The sub-table's reader; std::nullopt where it is absent or no table.
  std::optional<SpecTable> table(std::string_view key);

  // One size out of a list's element or a key's value; `named` for errors.
  std::optional<std::uint64_t> size_of(const toml::node& value, std::string_view named, std::uint64_t least,
                                       std::uint64_t most);

  // Every key of the table has been asked for.
  void finish();

  void report(const toml::node& at, std::string what, std::string remedy) {
    problem_.report(at.source(), std::move(what), std::move(remedy));
  }
  SpecProblem& problem() { return problem_; }
  [[nodiscard]] std::string named(std::string_view key) const { return "'" + path_ + std::string(key) + "'"; }

 private:
  const toml::table& table_;
  std::string path_;
  SpecProblem& problem_;
  std::vector<std::string> known_;  // keys asked for
};

// The candidate that a slip of the keyboard is nearest to; empty where none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace tlstrata::lab

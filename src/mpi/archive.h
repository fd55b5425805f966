// Values to bytes and back, one description for both ways, for messages between ranks of one version on machines of one
// byte order.
//
// In/Out:    whatever is trivially copyable, as it lies in memory; strings, vectors, arrays and optionals; and structs that have
//            a transfer(archive, value).
// Ownership: the writer owns its bytes; the reader's must outlive it.
// Errors:    the reader is sticky: past the end, or where a length contradicts what is there, ok() is false and values are
//            empty.
// Threads:   one an object.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace tlstrata::mpi {

// What is sent as it lies in memory.
template <typename T>
concept Plain = std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>;

class ArchiveWriter {
 public:
  template <Plain T>
  void operator()(const T& value) {
    raw(&value, sizeof value);
  }
  void operator()(const std::string& text) {
    (*this)(static_cast<std::uint64_t>(text.size()));
    raw(text.data(), text.size());
  }
  template <typename T>
  void operator()(const std::vector<T>& values) {
    (*this)(static_cast<std::uint64_t>(values.size()));
    if constexpr (Plain<T>) {
      raw(values.data(), values.size() * sizeof(T));
      return;
    }
    for (const T& value : values) {
      (*this)(value);
    }
  }
  template <typename T, std::size_t n>
  void operator()(const std::array<T, n>& values) {
    for (const T& value : values) {
      (*this)(value);
    }
  }
  template <typename T>
  void operator()(const std::optional<T>& value) {
    (*this)(value.has_value());
    if (value) {
      (*this)(*value);
    }
  }
  template <typename T>
    requires(!Plain<T>)
  void operator()(const T& value) {
    transfer(*this, value);
  }

  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] std::string take() { return std::exchange(bytes_, {}); }

 private:
  void raw(const void* data, std::size_t size) { bytes_.append(static_cast<const char*>(data), size); }

  std::string bytes_;
};

class ArchiveReader {
 public:
  explicit ArchiveReader(std::string_view bytes) : rest_(bytes) {}

  template <Plain T>
  void operator()(T& value) {
    if (rest_.size() < sizeof value) {
      fail();
      value = T{};
      return;
    }
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
  }
  void operator()(std::string& text) {
    const std::size_t size = length();
    text = rest_.substr(0, size);
    rest_.remove_prefix(size);
  }
  template <typename T>
  void operator()(std::vector<T>& values) {
    values.clear();
    for (std::size_t left = length(); left != 0 && ok_; --left) {
      (*this)(values.emplace_back());
    }
  }
  template <typename T, std::size_t n>
  void operator()(std::array<T, n>& values) {
    for (T& value : values) {
      (*this)(value);
    }
  }
  template <typename T>
  void operator()(std::optional<T>& value) {
    bool has_value = false;
    (*this)(has_value);
    value.reset();
    if (has_value) {
      (*this)(value.emplace());
    }
  }
  template <typename T>
    requires(!Plain<T>)
  void operator()(T& value) {
    transfer(*this, value);
  }

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool at_end() const { return rest_.empty(); }

 private:
  void fail() {
    ok_ = false;
    rest_ = {};
  }
  // Nothing that is counted takes less than a byte.
  std::size_t length() {
    std::uint64_t size = 0;
    (*this)(size);
    if (size > rest_.size()) {
      fail();
      return 0;
    }
    return static_cast<std::size_t>(size);
  }

  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace tlstrata::mpi

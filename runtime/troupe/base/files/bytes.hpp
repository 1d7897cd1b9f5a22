// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace troupe {

/// Serializes values one after the other, for blocks of memory and for files.
class byte_writer {
 public:
  template <class T>
    requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
  void value(T v) {
    raw(&v, sizeof v);
  }
  void text(std::string_view t) {
    value(static_cast<std::uint64_t>(t.size()));
    raw(t.data(), t.size());
  }
  void texts(const std::vector<std::string>& list) {
    value(static_cast<std::uint64_t>(list.size()));
    for (const std::string& t : list) text(t);
  }
  void raw(const void* from, std::size_t bytes) { out_.append(static_cast<const char*>(from), bytes); }

  const std::string& bytes() const& noexcept { return out_; }
  std::string bytes() && noexcept { return std::move(out_); }

 private:
  std::string out_;
};

/// Reads what a `byte_writer` wrote. If the input ends too early, values read as zero or empty; check `sound` at the
/// end.
class byte_reader {
 public:
  explicit byte_reader(std::string_view from) noexcept : left_(from) {}

  template <class T>
    requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
  T value() noexcept {
    if constexpr (std::is_same_v<T, bool>) return value<std::uint8_t>() != 0;
    T v{};
    const std::string_view r = raw(sizeof v);
    r.copy(reinterpret_cast<char*>(&v), r.size());
    return v;
  }
  std::string_view text() noexcept { return raw(value<std::uint64_t>()); }
  std::vector<std::string> texts() {
    std::vector<std::string> list;
    for (auto n = value<std::uint64_t>(); n > 0 && sound_; --n) list.emplace_back(text());
    return list;
  }
  std::string_view raw(std::uint64_t bytes) noexcept {
    if (bytes > left_.size()) {
      sound_ = false;
      left_ = {};
      return {};
    }
    const std::string_view r = left_.substr(0, bytes);
    left_.remove_prefix(bytes);
    return r;
  }
  std::string_view rest() const noexcept { return left_; }
  /// Returns true if the input was long enough for all values read so far.
  bool sound() const noexcept { return sound_; }

 private:
  std::string_view left_;
  bool sound_ = true;
};

}  // namespace troupe

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <troupe/plan/disk_cache.hpp>
#include <troupe/plan/remarks.hpp>
#include <type_traits>
#include <unordered_map>

namespace troupe::plan {

/// Choices of an engine, such as measured plans, kept for this and later processes. They are found by their full key,
/// which names everything that they depend on: the GPU, the versions of the driver and of libraries. Thread-safe.
class kept_choices {
 public:
  struct settings {
    std::string folder = disk_cache::default_folder();  ///< "": choices are not kept on disk
    std::string depends_on = {};  ///< path of a file: choices are not found after it has changed; "": no file
    bool in_memory = false;       ///< true: choices of this process are also kept in memory, so that it needs no folder
  };
  /// Number of days after which a provisional choice expires.
  static constexpr std::int64_t provisional_days = 7;

  /// Messages about the folder are sent to `r`.
  kept_choices(remarks& r, settings s);

  /// Returns the choice with this key, unless it has expired.
  std::optional<std::string> find(const std::string& key);
  void keep(const std::string& key, std::string_view choice) { keep(key, choice, 0); }
  /// Keeps a choice that expires after `provisional_days`.
  void keep_provisionally(const std::string& key, std::string_view choice);

  /// Returns the choice with this key. `Choice` is the type that was kept.
  template <class Choice>
  std::optional<Choice> find_value(const std::string& key) {
    static_assert(std::is_trivially_copyable_v<Choice>);
    const std::optional<std::string> found = find(key);
    Choice out;
    if (!found || found->size() != sizeof out) return std::nullopt;
    std::memcpy(static_cast<void*>(&out), found->data(), sizeof out);
    return out;
  }
  template <class Choice>
  void keep_value(const std::string& key, const Choice& c) {
    static_assert(std::is_trivially_copyable_v<Choice>);
    keep(key, {reinterpret_cast<const char*>(&c), sizeof c});
  }

  /// Sends a message that a choice is ignored, with the reason `why`.
  void report_unusable(std::string_view why);
  const disk_cache& disk() const noexcept { return disk_; }

 private:
  void keep(const std::string& key, std::string_view choice, std::int64_t day);

  remarks& remarks_;
  disk_cache disk_;
  std::string file_;  // part of each key: path, size and time of the file that the choices depend on
  const bool in_memory_;
  std::mutex lock_;
  std::unordered_map<std::string, std::string> kept_;
};

}  // namespace troupe::plan

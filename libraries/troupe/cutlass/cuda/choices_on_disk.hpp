// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <optional>
#include <troupe/plan/disk_cache.hpp>
#include <troupe/plan/remarks.hpp>
#include <type_traits>

namespace troupe::cutlass {

/// Measured choices, which are those of all processes on a kind of GPU. Thread-safe.
class choices_on_disk {
 public:
  explicit choices_on_disk(std::function<void(const std::string&)> remark) : remarks_(std::move(remark)) {}

  /// `Choice` is what was kept, as bytes.
  template <class Choice>
  std::optional<Choice> find(const std::string& key) {
    static_assert(std::is_trivially_copyable_v<Choice>);
    if (disk_.folder().empty()) return std::nullopt;
    std::string why_not;
    const auto found = disk_.find(key, why_not);
    remarks_.once(why_not);
    Choice out;
    if (!found || found->value.size() != sizeof out) return std::nullopt;
    std::memcpy(&out, found->value.data(), sizeof out);
    return out;
  }
  template <class Choice>
  void keep(const std::string& key, const Choice& c) {
    static_assert(std::is_trivially_copyable_v<Choice>);
    if (disk_.folder().empty()) return;
    remarks_.once(disk_.store(key, {}, {reinterpret_cast<const char*>(&c), sizeof c}));
  }

 private:
  troupe::plan::disk_cache disk_{troupe::plan::disk_cache::default_folder()};
  troupe::plan::remarks remarks_;
};

}  // namespace troupe::cutlass

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <optional>
#include <troupe/plan/disk_cache.hpp>
#include <troupe/plan/remarks.hpp>
#include <type_traits>

namespace troupe::cutlass {

/// Measured choices, which are those of all processes on a kind of GPU, as long as CUTLASS's plug-in is the same, or is
/// missing as it was. Thread-safe.
class choices_on_disk {
 public:
  choices_on_disk(std::function<void(const std::string&)> remark, std::string plug_in)
      : remarks_(std::move(remark)), plug_in_(std::move(plug_in)) {}

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
    troupe::plan::manifest made_from;
    if (auto plug_in = troupe::plan::stamp_without_content(plug_in_)) made_from.push_back(std::move(*plug_in));
    remarks_.once(disk_.store(key, made_from, {reinterpret_cast<const char*>(&c), sizeof c}));
  }

 private:
  troupe::plan::disk_cache disk_{troupe::plan::disk_cache::default_folder()};
  troupe::plan::remarks remarks_;
  const std::string plug_in_;
};

}  // namespace troupe::cutlass

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <mutex>
#include <optional>
#include <string>
#include <troupe/base/cat.hpp>
#include <troupe/plan/disk_cache.hpp>
#include <troupe/plan/remarks.hpp>
#include <type_traits>
#include <unordered_map>

namespace troupe::cutlass {

/// Measured choices of plans, shared by all processes that use the same kind of GPU and the same CUTLASS plug-in (or
/// none). This process's choices are also in memory, because there may be no cache folder. Thread-safe.
class choices_on_disk {
 public:
  choices_on_disk(std::function<void(const std::string&)> remark, std::string plug_in) : remarks_(std::move(remark)) {
    if (const auto s = troupe::plan::stamp_without_content(plug_in))
      kernels_ = cat(", ", s->path, " of ", s->bytes, " bytes, changed ", s->changed_ns);
  }

  /// Returns the choice with this key. `Choice` is the type that was stored.
  template <class Choice>
  std::optional<Choice> find(const std::string& key) {
    static_assert(std::is_trivially_copyable_v<Choice>);
    const std::optional<std::string> found = bytes_of(key);
    Choice out;
    if (!found || found->size() != sizeof out) return std::nullopt;
    std::memcpy(&out, found->data(), sizeof out);
    return out;
  }
  template <class Choice>
  void keep(const std::string& key, const Choice& c) {
    static_assert(std::is_trivially_copyable_v<Choice>);
    const std::string bytes(reinterpret_cast<const char*>(&c), sizeof c);
    {
      const std::scoped_lock guard(lock_);
      kept_.insert_or_assign(key, bytes);
    }
    if (!disk_.folder().empty()) remarks_.once(disk_.store(key + kernels_, {}, bytes));
  }

 private:
  std::optional<std::string> bytes_of(const std::string& key) {
    {
      const std::scoped_lock guard(lock_);
      if (const auto mine = kept_.find(key); mine != kept_.end()) return mine->second;
    }
    if (disk_.folder().empty()) return std::nullopt;
    std::string why_not;
    const auto found = disk_.find(key + kernels_, why_not);
    remarks_.once(why_not);
    return found ? std::optional<std::string>(found->value) : std::nullopt;
  }

  std::mutex lock_;
  std::unordered_map<std::string, std::string> kept_;
  troupe::plan::disk_cache disk_{troupe::plan::disk_cache::default_folder()};
  troupe::plan::remarks remarks_;
  std::string kernels_;  ///< identifies the plug-in's file as it was when this process began
};

}  // namespace troupe::cutlass

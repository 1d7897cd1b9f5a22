// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <optional>
#include <string>
#include <troupe/base/cat.hpp>
#include <troupe/plan/disk_cache.hpp>
#include <troupe/plan/remarks.hpp>
#include <type_traits>

namespace troupe::cutlass {

/// Measured choices, which are those of all processes on a kind of GPU with the same plug-in of CUTLASS's kernels, or
/// without one. Thread-safe.
class choices_on_disk {
 public:
  choices_on_disk(std::function<void(const std::string&)> remark, std::string plug_in) : remarks_(std::move(remark)) {
    if (const auto s = troupe::plan::stamp_without_content(plug_in))
      kernels_ = cat(", ", s->path, " of ", s->bytes, " bytes, changed ", s->changed_ns);
  }

  /// `Choice` is what was kept, as bytes.
  template <class Choice>
  std::optional<Choice> find(const std::string& key) {
    static_assert(std::is_trivially_copyable_v<Choice>);
    if (disk_.folder().empty()) return std::nullopt;
    std::string why_not;
    const auto found = disk_.find(key + kernels_, why_not);
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
    remarks_.once(disk_.store(key + kernels_, {}, {reinterpret_cast<const char*>(&c), sizeof c}));
  }

 private:
  troupe::plan::disk_cache disk_{troupe::plan::disk_cache::default_folder()};
  troupe::plan::remarks remarks_;
  std::string kernels_;  ///< what the plug-in was when this process began
};

}  // namespace troupe::cutlass

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace troupe::cuda_on_host {

/// The macros of texts that were not preprocessed, regardless of conditions around their definitions.
class macro_table {
 public:
  /// Adds every #define among the directives. The texts must outlive this object.
  void add(const std::vector<std::string_view>& directives);

  bool empty() const noexcept { return names_.empty(); }
  bool contains(std::string_view name) const { return names_.contains(name); }
  /// Returns true if the macro may expand to __device__ or the like.
  bool is_for_device(std::string_view name) const { return for_device_.contains(name); }
  /// Appends the macro's definitions to `bodies`, on the first call for that name only.
  void take_bodies(std::string_view name, std::vector<std::string>& bodies);

 private:
  void mark(std::string_view name);

  std::unordered_set<std::string_view> names_, for_device_;
  std::unordered_map<std::string_view, std::vector<std::string>> bodies_;   // of macros not taken yet
  std::unordered_map<std::string, std::vector<std::string_view>> used_by_;  // the macros whose bodies contain a word
};

}  // namespace troupe::cuda_on_host

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace troupe::cuda_on_host {

/// The macros that some texts define. The texts are not preprocessed, so conditions around definitions are ignored.
class macro_table {
 public:
  /// Adds every #define among the directives. The texts must outlive this object.
  void add(const std::vector<std::string_view>& directives);

  bool empty() const noexcept { return names_.empty(); }
  bool contains(std::string_view name) const { return names_.contains(name); }
  /// Returns true if the macro may expand to __device__ or the like.
  bool is_for_device(std::string_view name) const { return for_device_.contains(name); }
  /// Appends the macro's definitions to `bodies`; further calls for the same name append nothing.
  void take_bodies(std::string_view name, std::vector<std::string>& bodies);

 private:
  void mark(std::string_view name);

  std::unordered_set<std::string_view> names_, for_device_;
  // definitions that take_bodies has not appended yet
  std::unordered_map<std::string_view, std::vector<std::string>> bodies_;
  // for each word, the macros whose bodies contain it
  std::unordered_map<std::string, std::vector<std::string_view>> used_by_;
};

}  // namespace troupe::cuda_on_host

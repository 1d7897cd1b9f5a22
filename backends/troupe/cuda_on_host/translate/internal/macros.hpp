// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace troupe::cuda_on_host {

/// The macros of texts that were not preprocessed, whatever conditions their definitions stand under.
class macro_table {
 public:
  /// Takes those that are a #define. The texts must outlive this.
  void add(const std::vector<std::string_view>& directives);

  bool empty() const noexcept { return names_.empty(); }
  bool contains(std::string_view name) const { return names_.contains(name); }
  /// Whether __device__ or its like is what it comes to, among other things.
  bool is_for_device(std::string_view name) const { return for_device_.contains(name); }
  /// Adds what it stands for to `bodies`, the first time that it is asked.
  void take_bodies(std::string_view name, std::vector<std::string>& bodies);

 private:
  void mark(std::string_view name);

  std::unordered_set<std::string_view> names_, for_device_;
  std::unordered_map<std::string_view, std::vector<std::string>> bodies_;   // of those that nobody has asked for
  std::unordered_map<std::string, std::vector<std::string_view>> used_by_;  // the macros that have a word in them
};

}  // namespace troupe::cuda_on_host

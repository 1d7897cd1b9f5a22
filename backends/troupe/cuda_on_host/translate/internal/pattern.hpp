// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace troupe::cuda_on_host {

/// Returns the pattern with %1, %2 ... replaced by the texts. Generated code is easier to read as a pattern.
inline std::string fill_in(std::string_view pattern, std::initializer_list<std::string_view> parts) {
  std::string out;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const bool place = pattern[i] == '%' && i + 1 < pattern.size() && pattern[i + 1] >= '1' && pattern[i + 1] <= '9';
    const auto number = place ? static_cast<std::size_t>(pattern[i + 1] - '1') : parts.size();
    if (number < parts.size()) {
      out += parts.begin()[number];
      ++i;
    } else {
      out += pattern[i];
    }
  }
  return out;
}

}  // namespace troupe::cuda_on_host

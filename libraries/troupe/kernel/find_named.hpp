// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace troupe::kernel {

/// Returns the first element with this name, ignoring white space, or null if there is none.
template <class List>
const typename List::value_type* find_named(const List& list, std::string_view name) {
  const auto without_spaces = [](std::string_view text) {
    std::string out(text);
    std::erase_if(out, [](char c) { return c == ' ' || c == '\t' || c == '\n'; });
    return out;
  };
  for (const auto& one : list)
    if (one.name == name) return &one;
  const std::string wanted = without_spaces(name);
  for (const auto& one : list)
    if (without_spaces(one.name) == wanted) return &one;
  return nullptr;
}

}  // namespace troupe::kernel

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace troupe {

/// Returns the value beside `key` in a table, or `otherwise`.
template <class Key, class Value, std::size_t N>
constexpr Value value_for(const std::type_identity_t<Key>& key, const std::pair<Key, Value> (&table)[N],
                          const std::type_identity_t<Value>& otherwise) noexcept {
  for (const auto& [k, value] : table)
    if (k == key) return value;
  return otherwise;
}

}  // namespace troupe

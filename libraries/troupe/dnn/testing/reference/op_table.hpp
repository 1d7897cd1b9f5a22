// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <troupe/dnn/graph/op.hpp>

namespace troupe::dnn {

/// What a table has for one operation: a function, for instance.
template <class T>
struct op_entry {
  op what;
  T value;
};

/// A table with an entry for each operation. The compiler refuses one that lacks an operation, or has it twice.
template <class T>
class op_table {
 public:
  template <std::size_t N>
  consteval op_table(const op_entry<T> (&entries)[N]) {
    std::array<std::size_t, op_count> found{};
    for (const op_entry<T>& e : entries) {
      values_[static_cast<std::size_t>(e.what)] = e.value;
      ++found[static_cast<std::size_t>(e.what)];
    }
    for (std::size_t i = 0; i < op_count; ++i)
      if (found[i] != (i == 0 ? 0 : 1)) throw "an operation has no entry, or too many";
  }
  constexpr const T& operator[](op o) const noexcept { return values_[index_of(o)]; }

 private:
  std::array<T, op_count> values_{};
};

}  // namespace troupe::dnn

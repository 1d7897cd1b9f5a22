// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <troupe/dnn/graph/op.hpp>

namespace troupe::dnn {

/// What a table has for one operation: a function, for instance.
template <class T>
struct op_entry {
  op what;
  T value;
};

/// A table with an entry for each operation that `has_entry` names. The compiler refuses one that lacks an operation,
/// or has it twice. The others have T{}.
template <class T, bool (*HasEntry)(op) noexcept = is_known>
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
      if (found[i] != (HasEntry(static_cast<op>(i)) ? 1 : 0)) throw "an operation has no entry, or too many";
  }
  /// Returns the table of one member of each entry.
  template <class M, std::same_as<T> Entry>
  constexpr op_table<M, HasEntry> column(M Entry::* member) const noexcept {
    op_table<M, HasEntry> out;
    for (std::size_t i = 0; i < op_count; ++i) out.values_[i] = values_[i].*member;
    return out;
  }
  constexpr const T& operator[](op o) const noexcept { return values_[is_known(o) ? static_cast<std::size_t>(o) : 0]; }

 private:
  template <class U, bool (*)(op) noexcept>
  friend class op_table;
  constexpr op_table() noexcept = default;

  std::array<T, op_count> values_{};
};

}  // namespace troupe::dnn

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <troupe/request/block.hpp>
#include <troupe/request/request.hpp>
#include <vector>

namespace troupe {

/// One operand of a request that is being checked: which part of it the request touches.
struct operand_use {
  const void* field = nullptr;
  const memory_range* range = nullptr;
  std::uint64_t element_bytes = 0;
  memory_access touched;
  /// For a matrix: it consists of columns of `row_bytes` bytes that begin `pitch` bytes apart. 0: the range is
  /// contiguous.
  std::uint64_t row_bytes = 0, pitch = 0;
  /// True if the request leaves bytes inside the range untouched. They keep their content, so a write does not replace
  /// the whole range.
  bool gaps = false;
  bool keeps = false;  ///< true if the request writes the operand and counts as its reader only because of such gaps
};

/// The operands of a request, in the order of its fields. Allocates only if there are more than `max_operands`.
class operand_uses {
 public:
  operand_uses() noexcept : first_(few_) {}
  operand_uses(const operand_uses&) = delete;

  // Constructs each operand_use in place: copying it would stall on the stores that were just made.
  template <class... Fields>
  void add(const Fields&... f) {
    if (count_ < max_operands) [[likely]]
      new (few_ + count_) operand_use{f...};
    else
      add_to_many({f...});
    ++count_;
  }
  std::size_t size() const noexcept { return count_; }
  std::span<const operand_use> all() const noexcept { return {first_, count_}; }
  std::span<operand_use> all() noexcept { return {first_, count_}; }
  /// Returns the operand at this address; null if there is none. Fast for the operand found last and for the next one.
  operand_use* find(const void* field) noexcept {
    for (std::size_t i = found_; i < count_; ++i)
      if (first_[i].field == field) return first_ + (found_ = i);
    for (std::size_t i = 0; i < found_; ++i)
      if (first_[i].field == field) return first_ + (found_ = i);
    return nullptr;
  }

 private:
  void add_to_many(const operand_use& u);

  operand_use* first_;
  std::size_t count_ = 0, found_ = 0;  // `found_`: index of the operand found last
  union {
    operand_use few_[max_operands];  // the first operands, at most max_operands
  };
  std::vector<operand_use> many_;  // all operands, if they are more than max_operands
};

}  // namespace troupe

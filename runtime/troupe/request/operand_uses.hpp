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

/// One operand while it is checked: which part of it the request touches.
struct operand_use {
  const void* field = nullptr;
  const memory_range* range = nullptr;
  std::uint64_t element_bytes = 0;
  memory_access touched;
  /// Set for a matrix: columns of `row_bytes`, one every `pitch` bytes. 0: one contiguous run.
  std::uint64_t row_bytes = 0, pitch = 0;
  /// True if the request touches the range with gaps. The gaps keep their content, so a write does not replace the
  /// whole range.
  bool gaps = false;
  bool keeps = false;  ///< true if the request writes the operand, and counts as a reader only because of the gaps
};

/// The operands of one request, in the order of its fields. Allocates only if there are more than `max_operands`.
class operand_uses {
 public:
  operand_uses() noexcept : first_(few_) {}
  operand_uses(const operand_uses&) = delete;

  // Made where it stays: a processor would wait long to copy what was stored just before.
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
  /// Returns the operand at this place; null if there is none. Quick for the one that was found last and the next one.
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
  std::size_t count_ = 0, found_ = 0;  // `found_`: index of the one that was found last
  union {
    operand_use few_[max_operands];  // the first `count_` of them, up to max_operands
  };
  std::vector<operand_use> many_;  // all of them, once there are more
};

}  // namespace troupe

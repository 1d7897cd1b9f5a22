// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/generated/text_parts.hpp>
#include <troupe/dnn/sets/set_kernel.hpp>
#include <tuple>
#include <vector>

namespace troupe::dnn::generated {

/// Writes the indexes of a set kernel: which set and which elements a thread has. Names in the text: `set`, its index
/// o0, o1, ... along the axes outside, and its offset b2 in operand 2; a thread's elements are e = v * along + j of a
/// chunk, where j counts neighbors: elements of a row, or sets of a thread.
class set_index_writer {
 public:
  set_index_writer(const sets::set_kernel& k, const std::vector<bool>& aligned);

 protected:
  template <class... Parts>
  void line(const Parts&... parts) {
    out_.text += cat("  ", parts..., "\n");
  }
  /// Return the text for a number that is not part of the text: a stride, of 64 bits, or a count.
  std::string number(std::int64_t x);
  std::string count(std::int64_t x) { return cat("static_cast<", index_, ">(", number(x), ")"); }
  /// Returns the texts for a number and for the divisor of `quotient`.
  std::pair<std::string, std::string> divisor(std::int64_t x) { return {count(x), number(divisor_of(x, is_narrow_))}; }
  kernel_text done();

  dtype type(std::size_t operand) const noexcept { return k_.operands[operand].type; }
  unsigned bytes(std::size_t operand) const noexcept { return static_cast<unsigned>(bytes_of(type(operand))); }
  bool has_parts() const noexcept { return k_.partition.parts != 1; }
  /// Returns true if each thread has elements for all of its vectors.
  bool is_full() const noexcept;

  /// Write the set of a thread, and its offset in each operand.
  void add_set_index();
  void add_row_index();
  void add_bases();
  void begin_chunks();
  void add_element_index();

  /// Returns the stride of an operand between neighbors, and its text.
  std::int64_t neighbor_stride(std::size_t operand) const noexcept {
    return columns_ ? k_.outer_stride(operand, outer_rank() - 1) : k_.inner_stride(operand, inner_rank() - 1);
  }
  std::string neighbor_stride_text(std::size_t operand) {
    return stride_text(operand, columns_ ? outer_rank() - 1 : inner_rank() - 1, !columns_);
  }
  unsigned bytes_at_once(std::size_t operand) const;
  /// Returns the text for the offset of a vector in the set, in an operand.
  std::string inner_offset(std::size_t operand);

  const sets::set_kernel& k_;
  const std::vector<bool>& aligned_;
  const bool columns_;
  const unsigned along_, sets_;
  const bool is_narrow_;
  const char* const index_;  ///< the type of indexes
  kernel_text out_;

 private:
  std::size_t inner_rank() const noexcept { return k_.inside.rank(); }
  std::size_t outer_rank() const noexcept { return k_.outside.rank(); }
  bool has_narrow_indexes() const noexcept;
  void add_column_index();
  void add_division(const std::string& remainder, std::int64_t by);
  void add_outer_indexes(std::size_t axes);
  std::string stride_text(std::size_t operand, std::size_t axis, bool inner);

  std::map<std::tuple<std::size_t, std::size_t, bool>, std::string> strides_;  // texts by operand, axis, and if inside
  std::string count_;                                                          // the text for the elements of a set
  std::vector<std::pair<std::string, std::string>> extents_;  // of the axes inside but the first, as divisors
};

}  // namespace troupe::dnn::generated

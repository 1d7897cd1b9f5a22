// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <troupe/device/device.hpp>
#include <troupe/epilogue/expression.hpp>
#include <troupe/request/operands/any_operand.hpp>
#include <vector>

namespace troupe::bench {

/// Returns random elements: values from -1 to 1, or all values of i8 and f4e2m1x2. An operand with more elements
/// repeats these.
std::vector<std::byte> random_elements(dtype type, std::int64_t count, std::uint64_t seed);

/// Matrices in the memory of a device, stored row by row: one for each of several products.
class matrix_copies {
 public:
  matrix_copies() = default;
  /// Makes the matrices. `repeated` are the values that their elements repeat; empty if a product writes them.
  matrix_copies(const device& gpu, dtype type, std::int64_t rows, std::int64_t columns, int count,
                std::span<const std::byte> repeated = {});

  memory_range range(int which) const;
  template <class Operand = in_any>
  Operand matrix(int which) const {
    return Operand(range(which), {.rank = 2, .extents = {rows_, columns_}, .strides = {columns_, 1}}, type_);
  }
  in_any transposed(int which) const {
    return in_any(range(which), {.rank = 2, .extents = {columns_, rows_}, .strides = {1, columns_}}, type_);
  }
  epilogue::expression::memory_operand in_epilogue(int which) const {
    return {.range = range(which), .shape = {rows_, columns_, columns_, 1}, .type = type_};
  }
  std::vector<std::byte> download(const device& gpu, int which, std::size_t most_bytes) const;
  std::size_t bytes_of_one() const noexcept { return bytes_; }
  dtype type() const noexcept { return type_; }

 private:
  dtype type_{};
  std::int64_t rows_ = 0, columns_ = 0;
  std::size_t bytes_ = 0, distance_ = 0;
  buffer<std::byte> memory_;
};

/// Returns how elements differ, or "". The allowed difference is a share of the value and a constant.
std::string difference_of(dtype type, std::span<const std::byte> ours, std::span<const std::byte> theirs, double share,
                          double constant);

}  // namespace troupe::bench

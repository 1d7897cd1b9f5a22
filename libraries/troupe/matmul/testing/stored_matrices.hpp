// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <tests/numerics/random.hpp>
#include <troupe/epilogue/testing/poison.hpp>
#include <troupe/matmul/testing/element_value.hpp>
#include <troupe/request/operands/any_operand.hpp>
#include <vector>

/// Matrices in the memory of a test.
namespace troupe::matmul::testing {

/// A matrix or a batch of matrices in memory. All memory outside the elements is poisoned.
class stored_matrices {
 public:
  enum class storing : std::uint8_t {
    anyhow,        ///< rows or columns are contiguous, with random gaps between them
    tidy_rows,     ///< contiguous rows without gaps, aligned
    tidy_columns,  ///< the same for columns
    shifted,       ///< like `anyhow`, at a random address
    scattered,     ///< neither rows nor columns are contiguous
  };
  stored_matrices(dtype type, std::int64_t count, std::int64_t rows, std::int64_t columns,
                  numerics::random_source& random, storing how = storing::anyhow)
      : type_(type), rows_(rows), columns_(columns), count_(count) {
    const bool tidy = how == storing::tidy_rows || how == storing::tidy_columns;
    const std::int64_t gap = tidy ? 0 : random.between(0, 3), between = tidy ? 0 : random.between(0, 2),
                       stride = how == storing::scattered ? random.between(2, 3) : 1;
    const bool by_rows = tidy ? how == storing::tidy_rows : random.between(0, 1) == 0;
    shape_.rank = 3;
    shape_.extents = {count, rows, columns};
    shape_.strides = {0, by_rows ? stride * columns + gap : stride, by_rows ? stride : stride * rows + gap};
    shape_.strides[0] = (by_rows ? rows * shape_.strides[1] : columns * shape_.strides[2]) + between;
    const std::size_t bytes = static_cast<std::size_t>(count * shape_.strides[0] + gap + 8) * bytes_of(type);
    bytes_.resize(bytes + alignment);
    const auto at = reinterpret_cast<std::uintptr_t>(bytes_.data());
    begin_ = tidy ? (at + alignment - 1) / alignment * alignment - at : 0;
    if (how == storing::shifted) begin_ = static_cast<std::size_t>(random.between(0, 15)) * bytes_of(type);
    for (std::size_t i = 0; i < bytes / bytes_of(type); ++i)
      epilogue::testing::put_poison(bytes_.data() + begin_ + i * bytes_of(type), type);
    before_ = bytes_;
  }
  void* place(std::int64_t w, std::int64_t i, std::int64_t j) {
    const std::int64_t at = w * shape_.strides[0] + i * shape_.strides[1] + j * shape_.strides[2];
    return bytes_.data() + begin_ + at * static_cast<std::int64_t>(bytes_of(type_));
  }
  element_value get(std::int64_t w, std::int64_t i, std::int64_t j) {
    return read(place(count_ == 1 ? 0 : w, i, j), type_);
  }
  /// Returns true if the element has not been written.
  bool is_poisoned(std::int64_t w, std::int64_t i, std::int64_t j) {
    return epilogue::testing::is_poison(place(count_ == 1 ? 0 : w, i, j), type_);
  }
  template <class F>
  void fill(F&& value) {
    for (std::int64_t w = 0; w < count_; ++w)
      for (std::int64_t i = 0; i < rows_; ++i)
        for (std::int64_t j = 0; j < columns_; ++j) write(place(w, i, j), type_, value());
    remember();
  }
  /// Saves the content, for `untouched_outside`.
  void remember() { before_ = bytes_; }
  template <access_mode M>
  any_operand<M> operand(bool as_batch) {
    tensor_shape s = shape_;
    if (!as_batch) {
      s = {.rank = 2};
      s.extents = {rows_, columns_}, s.strides = {shape_.strides[1], shape_.strides[2]};
    }
    return {memory_range{{}, reinterpret_cast<std::uint64_t>(bytes_.data() + begin_), bytes_.size() - begin_}, s,
            type_};
  }
  /// Checks that the memory outside the elements is unchanged.
  ::testing::AssertionResult untouched_outside() {
    std::vector<std::byte> now = bytes_;
    for (std::int64_t w = 0; w < count_; ++w)
      for (std::int64_t i = 0; i < rows_; ++i)
        for (std::int64_t j = 0; j < columns_; ++j) {
          const auto at = static_cast<std::byte*>(place(w, i, j)) - bytes_.data();
          std::copy_n(before_.begin() + at, bytes_of(type_), now.begin() + at);
        }
    if (now == before_) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "memory outside of the elements was written";
  }
  dtype type() const { return type_; }
  const tensor_shape& shape() const { return shape_; }

 private:
  dtype type_;
  std::int64_t rows_, columns_, count_;
  tensor_shape shape_;
  static constexpr std::size_t alignment = 256;
  std::vector<std::byte> bytes_, before_;
  std::size_t begin_ = 0;
};

}  // namespace troupe::matmul::testing

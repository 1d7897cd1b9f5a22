// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tests/numerics/number.hpp>
#include <utility>
#include <vector>

namespace troupe::numerics {

/// A matrix with all of its elements, in the precision of the references. A vector has a single column.
class dense {
 public:
  dense(std::int64_t rows, std::int64_t columns)
      : rows_(rows), columns_(columns), values_(static_cast<std::size_t>(rows * columns)) {}

  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  number& operator()(std::int64_t i, std::int64_t j = 0) { return values_[static_cast<std::size_t>(i + j * rows_)]; }
  const number& operator()(std::int64_t i, std::int64_t j = 0) const {
    return values_[static_cast<std::size_t>(i + j * rows_)];
  }

  dense transposed() const {
    dense out(columns_, rows_);
    for (std::int64_t j = 0; j < columns_; ++j)
      for (std::int64_t i = 0; i < rows_; ++i) out(j, i) = (*this)(i, j);
    return out;
  }
  dense conjugated() const {
    dense out = *this;
    for (number& v : out.values_) v = v.conjugated();
    return out;
  }

  /// Completes a matrix from one triangle. A Hermitian diagonal is real.
  dense completed(bool lower, bool hermitian) const {
    dense out = *this;
    for (std::int64_t j = 0; j < columns_; ++j) {
      for (std::int64_t i = 0; i < j; ++i) {
        const number given = lower ? (*this)(j, i) : (*this)(i, j), other = hermitian ? given.conjugated() : given;
        out(i, j) = lower ? other : given;
        out(j, i) = lower ? given : other;
      }
      if (hermitian) out(j, j).im = 0;
    }
    return out;
  }
  dense with_unit_diagonal() const {
    dense out = *this;
    for (std::int64_t i = 0; i < rows_; ++i) out(i, i) = 1;
    return out;
  }

 private:
  std::int64_t rows_, columns_;
  std::vector<number> values_;
};

}  // namespace troupe::numerics

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tests/numerics/dense.hpp>
#include <vector>

/// The expected results of operations, computed plainly in higher precision, with what is needed to bound the error of
/// any other method.
namespace troupe::numerics {

/// One element of a result. A computation that rounds each element at most `roundings` times, in any order of
/// summation, errs by at most about roundings * u * magnitude, where u is the unit roundoff (Higham, Accuracy and
/// Stability, section 3.1).
struct expected {
  number value = 0;
  wide magnitude = 0;  ///< the same sum over absolute values
  std::int64_t roundings = 0;

  /// Adds a term, a product of exact numbers.
  void add(number term, wide size) {
    value = value + term;
    magnitude += size;
    ++roundings;
  }
};

/// All elements of a result.
class answers {
 public:
  answers(std::int64_t rows, std::int64_t columns)
      : rows_(rows), values_(static_cast<std::size_t>(rows * columns)), columns_(columns) {}
  expected& operator()(std::int64_t i, std::int64_t j = 0) { return values_[static_cast<std::size_t>(i + j * rows_)]; }
  const expected& operator()(std::int64_t i, std::int64_t j = 0) const {
    return values_[static_cast<std::size_t>(i + j * rows_)];
  }
  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }

 private:
  std::int64_t rows_;
  std::vector<expected> values_;
  std::int64_t columns_;
};

namespace reference {

/// alpha * product + beta * before, by BLAS's rules: a factor of 0 ignores its operand, even if that is NaN.
inline expected combine(number alpha, const expected& product, number beta, number before) {
  expected e{0, 0, product.roundings + 3};
  if (!(alpha == 0)) e.value = alpha * product.value, e.magnitude = alpha.size() * product.magnitude;
  if (!(beta == 0)) e.value = e.value + beta * before, e.magnitude += beta.size() * before.size();
  return e;
}

/// A * B. Sums in the order of the columns of A, one element after another, so that the sum stays in registers:
/// tests spend most of their time here.
answers product(const dense& a, const dense& b);

/// alpha * A * B + beta * C
inline answers product(number alpha, const dense& a, const dense& b, number beta, const dense& c) {
  answers out = product(a, b);
  for (std::int64_t j = 0; j < c.columns(); ++j)
    for (std::int64_t i = 0; i < c.rows(); ++i) out(i, j) = combine(alpha, out(i, j), beta, c(i, j));
  return out;
}
/// alpha * A * B
inline answers product(number alpha, const dense& a, const dense& b) {
  return product(alpha, a, b, 0, dense(a.rows(), b.columns()));
}
/// alpha * A + beta * B
inline answers sum(number alpha, const dense& a, number beta, const dense& b) {
  answers out(a.rows(), a.columns());
  for (std::int64_t j = 0; j < a.columns(); ++j)
    for (std::int64_t i = 0; i < a.rows(); ++i) out(i, j) = combine(alpha, {a(i, j), a(i, j).size(), 0}, beta, b(i, j));
  return out;
}
/// alpha * X: always the product, so that 0 times NaN is NaN
inline answers scaled(number alpha, const dense& x) {
  answers out(x.rows(), x.columns());
  for (std::int64_t j = 0; j < x.columns(); ++j)
    for (std::int64_t i = 0; i < x.rows(); ++i) out(i, j) = {alpha * x(i, j), alpha.size() * x(i, j).size(), 1};
  return out;
}

}  // namespace reference
}  // namespace troupe::numerics

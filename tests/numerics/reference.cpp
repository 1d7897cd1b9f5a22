// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <tests/numerics/reference.hpp>

namespace troupe::numerics::reference {
namespace {

bool is_real(const dense& m) {
  for (std::int64_t j = 0; j < m.columns(); ++j)
    for (std::int64_t i = 0; i < m.rows(); ++i)
      if (!(m(i, j).im == 0)) return false;
  return true;
}

}  // namespace

answers product(const dense& a, const dense& b) {
  answers out(a.rows(), b.columns());
  const dense rows = a.transposed();  // so that the factors of each sum are contiguous in memory
  const bool real = is_real(a) && is_real(b);
  const std::int64_t terms = a.columns();
  for (std::int64_t j = 0; j < b.columns(); ++j)
    for (std::int64_t i = 0; i < a.rows(); ++i) {
      const number *x = terms == 0 ? nullptr : &rows(0, i), *y = terms == 0 ? nullptr : &b(0, j);
      expected sum{0, 0, terms};
      if (real) {
        for (std::int64_t l = 0; l < terms; ++l) {
          const wide term = x[l].re * y[l].re;
          sum.value.re += term;
          sum.magnitude += std::fabs(term);
        }
      } else {
        for (std::int64_t l = 0; l < terms; ++l) {
          sum.value = sum.value + x[l] * y[l];
          sum.magnitude += x[l].size() * y[l].size();
        }
      }
      out(i, j) = sum;
    }
  return out;
}

}  // namespace troupe::numerics::reference

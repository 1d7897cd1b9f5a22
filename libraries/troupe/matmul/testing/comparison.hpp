// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <troupe/base/text/cat.hpp>
#include <troupe/epilogue/expression.hpp>
#include <troupe/epilogue/testing/reference.hpp>
#include <troupe/matmul/testing/stored_matrices.hpp>

/// Compares the results of products with the reference.
namespace troupe::matmul::testing {

using epilogue::expression, epilogue::is_complex, epilogue::tree;

/// An epilogue in the encoding that engines receive.
class encoded_tree {
 public:
  explicit encoded_tree(const expression& e) : bytes_(e.encoded_bytes()) {
    e.encode(bytes_.data());
    tree_ = tree(bytes_.data(), bytes_.size());
  }
  const tree& get() const { return tree_; }

 private:
  std::vector<std::byte> bytes_;
  tree tree_;
};

/// Compares numbers with the expected ones, and reports the first few that are wrong. `tolerance` is relative to the
/// number, or to 1 if that is more. If it is not 0, a number in a type of fewer bits than f32 may also be off by one
/// spacing, because a value near the midpoint may be rounded either way.
class comparison {
 public:
  explicit comparison(double tolerance) : tolerance_(tolerance) {}
  ~comparison() { EXPECT_EQ(wrong_, 0); }
  comparison(const comparison&) = delete;
  template <class Where>
  void expect_near(double got, double want, dtype stored, Where&& where) {
    const double rounded = epilogue::nearest_of(stored, want);
    if (got == rounded || (std::isnan(want) && (std::isnan(got) || got == 0))) return;
    const double spacing = std::fabs(epilogue::nearest_of(stored, want * (1 + 0x1p-7)) -
                                     epilogue::nearest_of(stored, want * (1 - 0x1p-7)));
    const bool is_narrow = stored != dtype::f64 && stored != dtype::f32;
    const double allowed = tolerance_ * std::max(1.0, std::fabs(want)) +
                           (tolerance_ > 0 && is_narrow ? 1.01 * spacing + (stored >= dtype::i8 ? 1.0 : 0.0) : 0);
    if (!(std::fabs(got - rounded) <= allowed) && ++wrong_ < 4)
      ADD_FAILURE() << where() << " is " << got << ", expected " << want << " as " << to_string(stored);
  }
  /// Compares matrix `w` of `d` from row `first` on, and the outputs that `t` writes for product `which`, with `e`.
  void expect(const epilogue::evaluated& e, stored_matrices& d, std::int64_t w, std::int64_t rows, std::int64_t columns,
              const tree& t, std::int64_t which, std::int64_t first = 0) {
    for (std::int64_t j = 0; j < columns; ++j)
      for (std::int64_t i = 0; i < rows; ++i)
        expect_near(d.get(w, first + i, j).real, e.result[static_cast<std::size_t>(i + j * rows)], d.type(),
                    [&] { return cat("d(", w, ", ", first + i, ", ", j, ")"); });
    for (std::size_t m = 0; m < t.memory().size(); ++m) {
      const epilogue::memory_operand& to = t.memory()[m];
      const auto& values = e.written[m];
      for (std::size_t i = 0; i < values.size(); ++i) {
        const auto at = static_cast<std::int64_t>(i);
        expect_near(epilogue::number_at(to.at(which, at % to.shape.rows, at / to.shape.rows), to.type), values[i],
                    to.type, [&] { return cat("output ", m, " of product ", which, " at ", i); });
      }
    }
  }

 private:
  double tolerance_;
  int wrong_ = 0;
};

}  // namespace troupe::matmul::testing

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <tests/numerics/engine_suite.hpp>
#include <troupe/epilogue/epilogue.hpp>
#include <troupe/matmul/testing/comparison.hpp>
#include <troupe/matmul/testing/test_factor.hpp>

/// Products in the memory of a test, compared with the reference.
namespace troupe::matmul::testing {

/// The base of suites that compare an engine's products with the reference in double precision.
class product_suite : public numerics::engine_suite {
 protected:
  static constexpr int rounds = 60;
  using storing = stored_matrices::storing;

  // Returns a small integer: every sum of products of such numbers is exact in every type of sums.
  element_value whole(dtype t) {
    return {static_cast<double>(random.between(-3, 3)), is_complex(t) ? static_cast<double>(random.between(-3, 3)) : 0};
  }

  test_product random_product(dtype a, dtype b, dtype d) {
    const bool is_large = random.between(0, 9) == 0;
    const std::int64_t most = is_large ? 300 : 40;
    test_product p{a, b, d, random.between(1, most), random.between(1, most), random.between(1, most)};
    // Engines may have special kernels for small products, so one extent is long.
    if (!is_large && random.between(0, 1) == 0)
      *std::array{&p.m, &p.n, &p.k}[static_cast<std::size_t>(random.between(0, 2))] = random.between(257, 300);
    if (random.between(0, 2) == 0) {
      p.batch = random.between(1, 4);
      p.shares_a = random.between(0, 2) == 0, p.shares_b = random.between(0, 2) == 0;
    }
    if (random.between(0, 11) == 0)
      *std::array{&p.m, &p.n, &p.k, &p.batch}[static_cast<std::size_t>(random.between(0, 3))] = 0;
    return p;
  }

  // Runs `request(a, b, d, e)`, the product of two factors with the epilogue `make(rows, columns)`, and compares d and
  // all outputs of the epilogue with the reference.
  template <class Make, class Request>
  void expect_right(const test_product& p, Make&& make, double tolerance, bool pairs, Request&& request) {
    test_factor a({p.a, p.shares_a ? 1 : p.batch, p.m, p.k, true, p.a_stored, p.a_scales}, random),
        b({p.b, p.shares_b ? 1 : p.batch, p.n * (pairs ? 2 : 1), p.k, false, p.b_stored, p.b_scales}, random);
    stored_matrices d(p.d, p.batch, p.m, p.n, random, p.d_stored);
    const expression e = make(p.m, p.n);
    const bool batched = p.batch != 1;
    const auto r =
        request(a, batched && !p.shares_a, b, batched && !p.shares_b, d.operand<access_mode::write>(batched), e);
    SCOPED_TRACE(story(r));
    const encoded_tree t(e);
    ASSERT_FALSE(t.get().empty());
    std::vector<epilogue::evaluated> expected;
    for (std::int64_t w = 0; w < p.batch; ++w) expected.push_back(evaluated(t.get(), a, b, p, w));
    run(r);
    if (HasFatalFailure()) return;
    EXPECT_TRUE(a.is_untouched() && b.is_untouched() && d.untouched_outside());
    comparison c(tolerance);
    for (std::int64_t w = 0; w < p.batch; ++w)
      c.expect(expected[static_cast<std::size_t>(w)], d, w, p.m, p.n, t.get(), w);
  }
  static epilogue::evaluated evaluated(const tree& t, test_factor& a, test_factor& b, const test_product& p,
                                       std::int64_t w) {
    const std::vector<double> x = a.values(w), y = b.values(w);
    return epilogue::evaluate(
        t, p.m, p.n, [&](std::int64_t i, std::int64_t j) { return sum_of_products(x, i, y, j, p.k); }, w);
  }

  // Returns the sum of the products of line `i` of one factor and line `j` of the other.
  static double sum_of_products(const std::vector<double>& x, std::int64_t i, const std::vector<double>& y,
                                std::int64_t j, std::int64_t k) {
    double sum = 0;
    for (std::int64_t l = 0; l < k; ++l)
      sum += x[static_cast<std::size_t>(i * k + l)] * y[static_cast<std::size_t>(j * k + l)];
    return sum;
  }

  struct sum_and_magnitude {
    double sum = 0, magnitude = 0;  ///< magnitude: the same sum over absolute values
  };
  // Returns the sum for element (i, j) of product `w`.
  static sum_and_magnitude sum_at(test_factor& a, test_factor& b, std::int64_t w, std::int64_t i, std::int64_t j,
                                  std::int64_t k) {
    sum_and_magnitude out;
    for (std::int64_t l = 0; l < k; ++l) {
      const double product = a.at(w, i, l) * b.at(w, j, l);
      out.sum += product, out.magnitude += std::fabs(product);
    }
    return out;
  }

  // Runs `request(d, e)`, a product of small integers whose epilogue e adds twice the previous content of d, and checks
  // the result. d holds `batch` matrices, n by n; `product(w, i, j)` returns an element of the product.
  template <class Product, class Request>
  void expect_in_place(stored_matrices& d, dtype type, std::int64_t batch, std::int64_t n, Product&& product,
                       Request&& request) {
    d.fill([&] { return whole(type); });
    std::vector<double> expected;
    const auto each = [&](auto&& f) {
      for (std::int64_t w = 0; w < batch; ++w)
        for (std::int64_t i = 0; i < n; ++i)
          for (std::int64_t j = 0; j < n; ++j) f(w, i, j);
    };
    each([&](auto w, auto i, auto j) {
      expected.push_back(epilogue::nearest_of(type, 2 * d.get(w, i, j).real + product(w, i, j)));
    });
    const auto to = d.operand<access_mode::write>(true);
    const batch_of_matrices s = matrices_of(to.shape());
    const expression c = expression::reading(
        epilogue::op::load,
        {.range = to.range(), .shape = s.one, .type = type, .batch = s.count, .batch_stride = s.stride});
    run(request(to, epilogue::acc + 2 * c));
    std::size_t next = 0;
    each(
        [&](auto w, auto i, auto j) { ASSERT_EQ(d.get(w, i, j).real, expected[next++]) << w << " " << i << " " << j; });
  }

  // Returns the tolerance of a result, relative to the larger of it and 1. Rounding errors are those of `factor` times
  // the sums, because summands of that size may cancel.
  static double rounding_of(const test_product& p, double factor) {
    constexpr double largest_product = 9, eps = 1.2e-7;
    return 1e-6 + 2 * eps * factor * largest_product * static_cast<double>(p.k);
  }

  // Returns the derivatives of all activations.
  static std::vector<std::function<expression(const expression&)>> derivatives() {
    return {
        [](const expression& x) { return d_relu(x); },           [](const expression& x) { return d_gelu(x); },
        [](const expression& x) { return d_gelu_tanh(x); },      [](const expression& x) { return d_silu(x); },
        [](const expression& x) { return d_tanh(x); },           [](const expression& x) { return d_sigmoid(x); },
        [](const expression& x) { return d_softplus(x); },       [](const expression& x) { return d_hard_swish(x); },
        [](const expression& x) { return d_leaky_relu(x, 0.1); }};
  }

  // Makes an operand of an epilogue: `batch` matrices of random numbers.
  expression::memory_operand operand(dtype type, std::int64_t batch, std::int64_t rows, std::int64_t columns,
                                     storing how = storing::anyhow) {
    stored_matrices& m =
        *operands_.emplace_back(std::make_unique<stored_matrices>(type, batch, rows, columns, random, how));
    m.fill([&] { return element_value{random.value() * 2, is_complex(type) ? random.value() : 0}; });
    const auto o = m.operand<access_mode::read>(true);
    const batch_of_matrices s = matrices_of(o.shape());
    return {.range = o.range(), .shape = s.one, .type = type, .batch = s.count, .batch_stride = s.stride};
  }
  expression loaded(epilogue::op what, dtype type, std::int64_t batch, std::int64_t rows, std::int64_t columns) {
    return expression::reading(what, operand(type, batch, rows, columns));
  }
  // Returns the sums times an operand for each row and one for each column.
  expression scaled_along_both(std::int64_t batch, std::int64_t rows, std::int64_t columns) {
    return loaded(epilogue::op::load_column, dtype::f32, batch, rows, 1) *
           loaded(epilogue::op::load_row, dtype::f32, batch, 1, columns) * epilogue::acc;
  }

 private:
  std::vector<std::unique_ptr<stored_matrices>> operands_;
};

}  // namespace troupe::matmul::testing

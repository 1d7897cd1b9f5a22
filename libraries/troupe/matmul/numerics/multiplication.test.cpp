// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Products and epilogues, compared with the reference in double precision.
#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <tests/numerics/engine_suite.hpp>
#include <troupe/base/cat.hpp>
#include <troupe/base/complex.hpp>
#include <troupe/epilogue/reference.hpp>
#include <troupe/epilogue/testing/random_epilogue.hpp>
#include <troupe/matmul/matmul.hpp>
#include <troupe/matmul/shapes.hpp>

namespace troupe::matmul {
namespace {

using epilogue::acc, epilogue::expression, epilogue::is_complex, epilogue::tree;

constexpr double poison = -113;

struct element_value {
  double real = 0, imag = 0;
};
element_value read(const void* place, dtype t) {
  if (t == dtype::c64) {
    complex64 z;
    std::memcpy(&z, place, sizeof z);
    return {z.real, z.imag};
  }
  if (t == dtype::c128) {
    complex128 z;
    std::memcpy(&z, place, sizeof z);
    return {z.real, z.imag};
  }
  return {epilogue::number_at(place, t), 0};
}
void write(void* place, dtype t, element_value v) {
  if (t == dtype::c64) {
    const complex64 z(static_cast<float>(v.real), static_cast<float>(v.imag));
    std::memcpy(place, &z, sizeof z);
  } else if (t == dtype::c128) {
    const complex128 z(v.real, v.imag);
    std::memcpy(place, &z, sizeof z);
  } else {
    epilogue::put_number(place, t, v.real);
  }
}

// A matrix or a batch in memory, with gaps; all that is no element is poisoned.
class stored_matrices {
 public:
  stored_matrices(dtype type, std::int64_t count, std::int64_t rows, std::int64_t columns,
                  numerics::random_source& random)
      : type_(type), rows_(rows), columns_(columns), count_(count) {
    const std::int64_t gap = random.between(0, 3), between = random.between(0, 2);
    const bool by_rows = random.between(0, 1) == 0;
    shape_.rank = 3;
    shape_.extents = {count, rows, columns};
    shape_.strides = {0, by_rows ? columns + gap : 1, by_rows ? 1 : rows + gap};
    shape_.strides[0] = (by_rows ? rows * (columns + gap) : columns * (rows + gap)) + between;
    bytes_.resize(static_cast<std::size_t>(count * shape_.strides[0] + gap + 8) * bytes_of(type));
    for (std::size_t i = 0; i < bytes_.size() / bytes_of(type); ++i)
      write(bytes_.data() + i * bytes_of(type), type, {poison, poison});
    before_ = bytes_;
  }
  void* place(std::int64_t w, std::int64_t i, std::int64_t j) {
    const std::int64_t at = w * shape_.strides[0] + i * shape_.strides[1] + j * shape_.strides[2];
    return bytes_.data() + at * static_cast<std::int64_t>(bytes_of(type_));
  }
  element_value get(std::int64_t w, std::int64_t i, std::int64_t j) {
    return read(place(count_ == 1 ? 0 : w, i, j), type_);
  }
  template <class F>
  void fill(F&& value) {
    for (std::int64_t w = 0; w < count_; ++w)
      for (std::int64_t i = 0; i < rows_; ++i)
        for (std::int64_t j = 0; j < columns_; ++j) write(place(w, i, j), type_, value());
    before_ = bytes_;
  }
  template <access_mode M>
  any_operand<M> operand(bool as_batch) {
    tensor_shape s = shape_;
    if (!as_batch) {
      s = {.rank = 2};
      s.extents = {rows_, columns_}, s.strides = {shape_.strides[1], shape_.strides[2]};
    }
    return {memory_range{{}, reinterpret_cast<std::uint64_t>(bytes_.data()), bytes_.size()}, s, type_};
  }
  // Whether all memory that is no element is as it was.
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

 private:
  dtype type_;
  std::int64_t rows_, columns_, count_;
  tensor_shape shape_;
  std::vector<std::byte> bytes_, before_;
};

struct problem {
  dtype a, b, d;
  std::int64_t m, n, k, batch = 1;
  bool shares_a = false, shares_b = false;
};

class matmul_numerics : public numerics::engine_suite {
 protected:
  static constexpr int rounds = 60;

  // Whole numbers, so small that every sum of them is exact in every type of sums.
  element_value whole(dtype t) {
    return {static_cast<double>(random.between(-3, 3)), is_complex(t) ? static_cast<double>(random.between(-3, 3)) : 0};
  }

  problem any_problem(dtype a, dtype b, dtype d) {
    const bool is_large = random.between(0, 9) == 0;
    const std::int64_t most = is_large ? 300 : 40;
    problem p{a, b, d, random.between(1, most), random.between(1, most), random.between(1, most)};
    if (random.between(0, 2) == 0) {
      p.batch = random.between(1, 4);
      p.shares_a = random.between(0, 2) == 0, p.shares_b = random.between(0, 2) == 0;
    }
    return p;
  }

  // Runs the product, with `make(rows, columns)` for its epilogue, and compares everything that it writes.
  template <class Make>
  void expect_as_defined(const problem& p, Make&& make, double tolerance, bool pairs = false) {
    stored_matrices a(p.a, p.shares_a ? 1 : p.batch, p.m, p.k, random),
        b(p.b, p.shares_b ? 1 : p.batch, p.k, p.n * (pairs ? 2 : 1), random), d(p.d, p.batch, p.m, p.n, random);
    a.fill([&] { return whole(p.a); });
    b.fill([&] { return whole(p.b); });
    const expression e = make(p.m, p.n);
    const bool batched = p.batch > 1;
    const multiplication r{.a = a.operand<access_mode::read>(batched && !p.shares_a),
                           .b = b.operand<access_mode::read>(batched && !p.shares_b),
                           .d = d.operand<access_mode::write>(batched),
                           .epilogue = e};
    SCOPED_TRACE(story(r));
    std::vector<std::byte> encoded(e.encoded_bytes());
    e.encode(encoded.data());
    const tree t(encoded.data(), encoded.size());
    ASSERT_FALSE(t.empty());
    std::vector<epilogue::evaluated> expected;
    for (std::int64_t w = 0; w < p.batch; ++w)
      expected.push_back(epilogue::evaluate(
          t, p.m, p.n,
          [&](std::int64_t i, std::int64_t j) {
            double sum = 0;
            for (std::int64_t l = 0; l < p.k; ++l) sum += a.get(w, i, l).real * b.get(w, l, j).real;
            return sum;
          },
          w));
    run(r);
    if (HasFatalFailure()) return;
    EXPECT_TRUE(a.untouched_outside() && b.untouched_outside() && d.untouched_outside());
    int wrong = 0;
    const auto expect_near = [&](double got, double want, dtype stored, const std::string& where) {
      const double rounded = epilogue::nearest_of(stored, want);
      if (got == rounded || (std::isnan(want) && (std::isnan(got) || got == 0))) return;
      const double step = std::fabs(epilogue::nearest_of(stored, want * (1 + 0x1p-7)) -
                                    epilogue::nearest_of(stored, want * (1 - 0x1p-7)));
      const double allowed =
          tolerance * std::max(1.0, std::fabs(want)) + (tolerance > 0 && stored != dtype::f64 && stored != dtype::f32
                                                            ? 1.01 * step + std::max(0.0, 1.0 * (stored >= dtype::i8))
                                                            : 0);
      if (!(std::fabs(got - rounded) <= allowed) && ++wrong < 4)
        ADD_FAILURE() << where << " is " << got << ", expected " << want << " as " << to_string(stored);
    };
    for (std::int64_t w = 0; w < p.batch; ++w)
      for (std::int64_t j = 0; j < p.n; ++j)
        for (std::int64_t i = 0; i < p.m; ++i)
          expect_near(read(d.place(w, i, j), p.d).real,
                      expected[static_cast<std::size_t>(w)].result[static_cast<std::size_t>(i + j * p.m)], p.d,
                      cat("d(", w, ", ", i, ", ", j, ")"));
    for (std::int64_t w = 0; w < p.batch; ++w)
      for (std::size_t m = 0; m < t.memory().size(); ++m) {
        const auto& values = expected[static_cast<std::size_t>(w)].written[m];
        const epilogue::tree_memory& to = t.memory()[m];
        for (std::size_t i = 0; i < values.size(); ++i) {
          const auto at = static_cast<std::int64_t>(i);
          expect_near(epilogue::number_at(to.at(w, at % to.shape.rows, at / to.shape.rows), to.type), values[i],
                      to.type, cat("output ", m, " at ", i));
        }
      }
    EXPECT_EQ(wrong, 0);
  }

  // How far a result may be off, relative to itself or 1: floats of the size of the sums, times `factor`, cancel.
  static double rounding_of(const problem& p, double factor) {
    constexpr double largest_product = 9, eps = 1.2e-7;
    return 1e-6 + 2 * eps * factor * largest_product * static_cast<double>(p.k);
  }

  // Memory for an operand of an epilogue, one for each product of a batch.
  expression::memory_operand operand(dtype type, std::int64_t batch, std::int64_t rows, std::int64_t columns) {
    stored_matrices& m = *operands_.emplace_back(std::make_unique<stored_matrices>(type, batch, rows, columns, random));
    m.fill([&] { return element_value{random.value() * 2, is_complex(type) ? random.value() : 0}; });
    const auto o = m.operand<access_mode::read>(true);
    const batch_of_matrices s = matrices_of(o.shape());
    return {.range = o.range(), .shape = s.one, .type = type, .batch = s.count, .batch_stride = s.stride};
  }
  expression loaded(epilogue::op what, dtype type, std::int64_t batch, std::int64_t rows, std::int64_t columns) {
    return expression::reading(what, operand(type, batch, rows, columns));
  }

 private:
  std::vector<std::unique_ptr<stored_matrices>> operands_;
};

struct types {
  dtype a, b;
};
constexpr types of_reals[] = {
    {dtype::f32, dtype::f32},       {dtype::f64, dtype::f64},       {dtype::f16, dtype::f16},
    {dtype::bf16, dtype::bf16},     {dtype::i8, dtype::i8},         {dtype::f8e4m3, dtype::f8e4m3},
    {dtype::f8e4m3, dtype::f8e5m2}, {dtype::f8e5m2, dtype::f8e4m3}, {dtype::f8e5m2, dtype::f8e5m2}};
constexpr dtype of_results[] = {dtype::f32,    dtype::f64,    dtype::f16, dtype::bf16,
                                dtype::f8e4m3, dtype::f8e5m2, dtype::i8,  dtype::i32};

TEST_F(matmul_numerics, products_of_all_types_are_exact_where_the_sums_are) {
  for (const types t : of_reals)
    for (const dtype d : of_results)
      for (int i = 0; i < 4 && !HasFailure(); ++i)
        expect_as_defined(any_problem(t.a, t.b, d), [](auto, auto) { return expression(acc); }, 0);
}

TEST_F(matmul_numerics, alpha_and_beta_are_honoured_by_value_and_in_memory) {
  for (const types t : of_reals)
    for (const double alpha : {0.0, 1.0, -0.5})
      for (const double beta : {0.0, 1.0, 2.0}) {
        const problem p = any_problem(t.a, t.b, of_results[random.between(0, 3)]);
        expect_as_defined(
            p,
            [&](auto rows, auto columns) {
              return alpha * acc +
                     beta * loaded(epilogue::op::load, t.a == dtype::i8 ? dtype::i8 : p.d, p.batch, rows, columns);
            },
            rounding_of(p, 2));
        expect_as_defined(
            p,
            [&](auto rows, auto columns) {
              return loaded(epilogue::op::load_number, dtype::f32, 1, 1, 1) * acc +
                     loaded(epilogue::op::load_column, dtype::f32, p.batch, rows, 1) *
                         loaded(epilogue::op::load, dtype::f16, 1, rows, columns);
            },
            rounding_of(p, 2));
      }
}

TEST_F(matmul_numerics, bias_activation_and_outputs_of_every_kind_are_as_defined) {
  using epilogue::op;
  const std::function<expression(const expression&)> activations[] = {[](const expression& x) { return relu(x); },
                                                                      [](const expression& x) { return gelu(x); },
                                                                      [](const expression& x) { return gelu_tanh(x); },
                                                                      [](const expression& x) { return silu(x); },
                                                                      [](const expression& x) { return tanh(x); },
                                                                      [](const expression& x) { return sigmoid(x); },
                                                                      [](const expression& x) { return softplus(x); },
                                                                      [](const expression& x) { return hard_swish(x); },
                                                                      [](const expression& x) { return clamp(x, -1, 1); },
                                                                      [](const expression& x) { return leaky_relu(x, 0.1); },
                                                                      [](const expression& x) { return exp(min(x, 2)); },
                                                                      [](const expression& x) { return select(x > 0, x, abs(x) * 2); }};
  for (const types t : of_reals)
    for (const auto& f : activations) {
      const problem p = any_problem(t.a, t.b, of_results[random.between(0, 3)]);
      expect_as_defined(
          p,
          [&](auto rows, auto columns) {
            expression x = 0.05 * acc + loaded(op::load_row, p.d, p.batch, 1, columns);
            x = expression::writing(x, operand(dtype::bf16, p.batch, rows, columns));
            return expression::reducing(f(x), epilogue::reduction::absolute_maximum, epilogue::span_of::all,
                                        operand(dtype::f32, p.batch, 1, 1));
          },
          rounding_of(p, 0.05 * 8));  // exp has a slope of up to 8
      if (HasFailure()) return;
    }
}

TEST_F(matmul_numerics, gradients_and_their_sums_are_as_defined) {
  using epilogue::op;
  const std::function<expression(const expression&)> derivatives[] = {
      [](const expression& x) { return d_relu(x); },           [](const expression& x) { return d_gelu(x); },
      [](const expression& x) { return d_gelu_tanh(x); },      [](const expression& x) { return d_silu(x); },
      [](const expression& x) { return d_tanh(x); },           [](const expression& x) { return d_sigmoid(x); },
      [](const expression& x) { return d_softplus(x); },       [](const expression& x) { return d_hard_swish(x); },
      [](const expression& x) { return d_leaky_relu(x, 0.1); }};
  for (const types t : of_reals)
    for (const auto& d : derivatives) {
      const problem p = any_problem(t.a, t.b, of_results[random.between(0, 3)]);
      expect_as_defined(
          p,
          [&](auto rows, auto columns) {
            const expression g = 0.05 * acc * d(loaded(op::load, dtype::bf16, p.batch, rows, columns));
            const expression s = expression::reducing(g, epilogue::reduction::sum, epilogue::span_of::column,
                                                      operand(dtype::f32, p.batch, 1, columns));
            return expression::reducing(s, epilogue::reduction::maximum, epilogue::span_of::row,
                                        operand(dtype::f32, p.batch, rows, 1));
          },
          rounding_of(p, 0.05 * std::sqrt(static_cast<double>(std::max(p.m, p.n)))));
      if (HasFailure()) return;
    }
}

TEST_F(matmul_numerics, pairs_and_quantised_results_are_as_defined) {
  using epilogue::op;
  for (const types t : of_reals)
    for (const dtype d : of_results) {
      const problem p = any_problem(t.a, t.b, d);
      expect_as_defined(
          p,
          [&](auto, auto columns) {
            return silu(0.05 * epilogue::left) * epilogue::right *
                   loaded(op::load_row, dtype::f32, p.batch, 1, columns);
          },
          2e-6, true);
      expect_as_defined(
          p,
          [&](auto rows, auto columns) {
            return loaded(op::load_column, dtype::f32, p.batch, rows, 1) *
                   loaded(op::load_row, dtype::f32, p.batch, 1, columns) * acc;
          },
          1e-6);
      if (HasFailure()) return;
    }
}

TEST_F(matmul_numerics, random_epilogues_are_as_defined) {
  for (int i = 0; i < 4 * rounds && !HasFailure(); ++i) {
    problem p = any_problem(dtype::f64, dtype::f64, dtype::f64);
    p.batch = 1;
    epilogue::testing::random_epilogue some(static_cast<std::uint64_t>(random.between(0, 1 << 30)), p.m, p.n);
    const expression e = some.make(static_cast<std::size_t>(random.between(1, 5)));
    if (!e.is_too_large()) expect_as_defined(p, [&](auto, auto) { return e; }, 1e-9);
  }
}

TEST_F(matmul_numerics, a_result_may_be_where_the_epilogue_loads_from) {
  constexpr std::int64_t k = 9, batch = 3;
  for (const dtype t : {dtype::f32, dtype::f64, dtype::bf16})
    for (const std::int64_t n : {1, 5, 64, 300}) {
      stored_matrices a(t, batch, n, k, random), b(t, batch, k, n, random), d(t, batch, n, n, random);
      for (auto* m : {&a, &b, &d}) m->fill([&] { return whole(t); });
      std::vector<double> expected;
      const auto each = [n](auto&& f) {
        for (std::int64_t w = 0; w < batch; ++w)
          for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = 0; j < n; ++j) f(w, i, j);
      };
      each([&](auto w, auto i, auto j) {
        double sum = 2 * d.get(w, i, j).real;
        for (std::int64_t l = 0; l < k; ++l) sum += a.get(w, i, l).real * b.get(w, l, j).real;
        expected.push_back(epilogue::nearest_of(t, sum));
      });
      const auto to = d.operand<access_mode::write>(true);
      const batch_of_matrices s = matrices_of(to.shape());
      const expression c = expression::reading(
          epilogue::op::load,
          {.range = to.range(), .shape = s.one, .type = t, .batch = s.count, .batch_stride = s.stride});
      run(multiplication{.a = a.operand<access_mode::read>(true),
                         .b = b.operand<access_mode::read>(true),
                         .d = to,
                         .epilogue = acc + 2 * c});
      std::size_t next = 0;
      each([&](auto w, auto i, auto j) {
        ASSERT_EQ(d.get(w, i, j).real, expected[next++]) << w << " " << i << " " << j;
      });
    }
}

TEST_F(matmul_numerics, complex_products_and_their_linear_epilogues_are_as_defined) {
  for (const dtype t : {dtype::c64, dtype::c128})
    for (int i = 0; i < rounds && !HasFailure(); ++i) {
      const problem p = any_problem(t, t, t);
      stored_matrices a(t, p.batch, p.m, p.k, random), b(t, p.batch, p.k, p.n, random), d(t, p.batch, p.m, p.n, random);
      a.fill([&] { return whole(t); });
      b.fill([&] { return whole(t); });
      const expression::memory_operand c = operand(t, p.batch, p.m, p.n), column = operand(t, p.batch, p.m, 1);
      run(multiplication{.a = a.operand<access_mode::read>(true),
                         .b = b.operand<access_mode::read>(true),
                         .d = d.operand<access_mode::write>(true),
                         .epilogue = 0.5 * acc * expression::reading(epilogue::op::load_column, column) -
                                     expression::reading(epilogue::op::load, c)});
      const auto at = [&](const expression::memory_operand& m, std::int64_t w, std::int64_t row, std::int64_t col) {
        const epilogue::tree_memory seen{m.range.address, m.shape, m.batch_stride, m.type, m.mode, {}};
        return read(seen.at(w, row, col), m.type);
      };
      for (std::int64_t w = 0; w < p.batch; ++w)
        for (std::int64_t r = 0; r < p.m; ++r)
          for (std::int64_t q = 0; q < p.n; ++q) {
            std::complex<double> sum = 0;
            for (std::int64_t l = 0; l < p.k; ++l) {
              const element_value x = a.get(w, r, l), y = b.get(w, l, q);
              sum += std::complex<double>(x.real, x.imag) * std::complex<double>(y.real, y.imag);
            }
            const element_value v = at(column, w, r, 0), z = at(c, w, r, q), got = read(d.place(w, r, q), t);
            const std::complex<double> want =
                0.5 * sum * std::complex<double>(v.real, v.imag) - std::complex<double>(z.real, z.imag);
            const double bound = (t == dtype::c64 ? 1e-6 : 1e-14) * std::max(1.0, std::abs(want));
            ASSERT_NEAR(got.real, want.real(), bound);
            ASSERT_NEAR(got.imag, want.imag(), bound);
          }
      EXPECT_TRUE(d.untouched_outside());
    }
}

TEST_F(matmul_numerics, sums_are_as_precise_as_their_type) {
  for (const types t : of_reals) {
    if (t.a == dtype::i8) continue;
    const std::int64_t m = 33, n = 29, k = 700;
    stored_matrices a(t.a, 1, m, k, random), b(t.b, 1, k, n, random), d(dtype::f64, 1, m, n, random);
    a.fill([&] { return element_value{random.value(), 0}; });
    b.fill([&] { return element_value{random.value(), 0}; });
    run(multiplication{.a = a.operand<access_mode::read>(false),
                       .b = b.operand<access_mode::read>(false),
                       .d = d.operand<access_mode::write>(false)});
    const double eps = t.a == dtype::f64 ? 0x1p-52 : 0x1p-23;
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        double sum = 0, magnitude = 0;
        for (std::int64_t l = 0; l < k; ++l) {
          const double x = a.get(0, i, l).real * b.get(0, l, j).real;
          sum += x, magnitude += std::fabs(x);
        }
        ASSERT_NEAR(d.get(0, i, j).real, sum, static_cast<double>(k) * eps * magnitude)
            << to_string(t.a) << " " << to_string(t.b);
      }
  }
}

}  // namespace
}  // namespace troupe::matmul

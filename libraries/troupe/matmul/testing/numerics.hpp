// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <tests/numerics/engine_suite.hpp>
#include <troupe/base/cat.hpp>
#include <troupe/base/complex.hpp>
#include <troupe/epilogue/numbers.hpp>
#include <troupe/epilogue/reference.hpp>
#include <troupe/matmul/matmul.hpp>
#include <troupe/matmul/shapes.hpp>
#include <vector>

/// Products in memory of the test, and what they are compared with.
namespace troupe::matmul::testing {

using epilogue::expression, epilogue::is_complex, epilogue::tree;

inline constexpr double poison = -113;

struct element_value {
  double real = 0, imag = 0;
};
inline element_value read(const void* place, dtype t) {
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
inline void write(void* place, dtype t, element_value v) {
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

/// A matrix or a batch in memory, with gaps unless it is `tidy`; all that is no element is poisoned.
class stored_matrices {
 public:
  enum class storing : std::uint8_t { anyhow, tidy_rows, tidy_columns };
  stored_matrices(dtype type, std::int64_t count, std::int64_t rows, std::int64_t columns,
                  numerics::random_source& random, storing how = storing::anyhow)
      : type_(type), rows_(rows), columns_(columns), count_(count) {
    const bool tidy = how != storing::anyhow;
    const std::int64_t gap = tidy ? 0 : random.between(0, 3), between = tidy ? 0 : random.between(0, 2);
    const bool by_rows = tidy ? how == storing::tidy_rows : random.between(0, 1) == 0;
    shape_.rank = 3;
    shape_.extents = {count, rows, columns};
    shape_.strides = {0, by_rows ? columns + gap : 1, by_rows ? 1 : rows + gap};
    shape_.strides[0] = (by_rows ? rows * (columns + gap) : columns * (rows + gap)) + between;
    const std::size_t bytes = static_cast<std::size_t>(count * shape_.strides[0] + gap + 8) * bytes_of(type);
    bytes_.resize(bytes + alignment);
    const auto at = reinterpret_cast<std::uintptr_t>(bytes_.data());
    begin_ = tidy ? (at + alignment - 1) / alignment * alignment - at : 0;
    for (std::size_t i = 0; i < bytes / bytes_of(type); ++i)
      write(bytes_.data() + begin_ + i * bytes_of(type), type, {poison, poison});
    before_ = bytes_;
  }
  void* place(std::int64_t w, std::int64_t i, std::int64_t j) {
    const std::int64_t at = w * shape_.strides[0] + i * shape_.strides[1] + j * shape_.strides[2];
    return bytes_.data() + begin_ + at * static_cast<std::int64_t>(bytes_of(type_));
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
    return {memory_range{{}, reinterpret_cast<std::uint64_t>(bytes_.data() + begin_), bytes_.size() - begin_}, s,
            type_};
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
  static constexpr std::size_t alignment = 256;
  std::vector<std::byte> bytes_, before_;
  std::size_t begin_ = 0;
};

struct problem {
  dtype a, b, d;
  std::int64_t m, n, k, batch = 1;
  bool shares_a = false, shares_b = false, tidy = false;
  matmul::fusion fusion = matmul::fusion::allowed;
};

/// Compares an engine with the reference in double precision.
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
    // Engines may compute small products in a way of their own: one extent is long.
    if (!is_large && random.between(0, 1) == 0)
      *std::array{&p.m, &p.n, &p.k}[static_cast<std::size_t>(random.between(0, 2))] = random.between(257, 300);
    if (random.between(0, 2) == 0) {
      p.batch = random.between(1, 4);
      p.shares_a = random.between(0, 2) == 0, p.shares_b = random.between(0, 2) == 0;
    }
    return p;
  }

  // Runs the product, with `make(rows, columns)` for its epilogue, and compares everything that it writes.
  template <class Make>
  void expect_as_defined(const problem& p, Make&& make, double tolerance, bool pairs = false) {
    using enum stored_matrices::storing;
    stored_matrices a(p.a, p.shares_a ? 1 : p.batch, p.m, p.k, random, p.tidy ? tidy_rows : anyhow),
        b(p.b, p.shares_b ? 1 : p.batch, p.k, p.n * (pairs ? 2 : 1), random, p.tidy ? tidy_columns : anyhow),
        d(p.d, p.batch, p.m, p.n, random, p.tidy ? tidy_rows : anyhow);
    a.fill([&] { return whole(p.a); });
    b.fill([&] { return whole(p.b); });
    const expression e = make(p.m, p.n);
    const bool batched = p.batch > 1;
    const multiplication r{.a = a.operand<access_mode::read>(batched && !p.shares_a),
                           .b = b.operand<access_mode::read>(batched && !p.shares_b),
                           .d = d.operand<access_mode::write>(batched),
                           .epilogue = e,
                           .fusion = p.fusion};
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
  expression::memory_operand operand(dtype type, std::int64_t batch, std::int64_t rows, std::int64_t columns,
                                     stored_matrices::storing how = stored_matrices::storing::anyhow) {
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

 private:
  std::vector<std::unique_ptr<stored_matrices>> operands_;
};

}  // namespace troupe::matmul::testing

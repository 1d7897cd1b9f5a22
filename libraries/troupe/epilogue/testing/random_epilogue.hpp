// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <random>
#include <troupe/epilogue/epilogue.hpp>
#include <troupe/epilogue/numbers.hpp>
#include <vector>

namespace troupe::epilogue::testing {

/// Makes random epilogues of real numbers. Their operands are in memory of this process.
class random_epilogue {
 public:
  random_epilogue(std::uint64_t seed, std::int64_t rows, std::int64_t columns)
      : random_(seed), rows_(rows), columns_(columns) {}

  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }
  double value() { return std::uniform_real_distribution<double>(-3, 3)(random_); }

  expression make(std::size_t depth) {
    if (depth == 0) return leaf();
    const expression x = make(depth - 1);
    switch (below(6)) {
      case 0:
        return unary(x);
      case 1:
        return select(x > leaf(), x, leaf());
      case 2:
        return output(x);
      case 3:
        return expression::converted(x, pick({dtype::f16, dtype::bf16, dtype::f8e4m3, dtype::i8}));
      default:
        return binary(x, below(2) == 0 ? leaf() : make(depth / 2));
    }
  }

 private:
  dtype pick(std::initializer_list<dtype> of) { return of.begin()[below(of.size())]; }

  expression::memory_operand operand(std::int64_t rows, std::int64_t columns, dtype type) {
    const bool by_rows = below(2) == 0;
    const auto gap = static_cast<std::int64_t>(below(3));
    const matrix_shape s{rows, columns, by_rows ? columns + gap : 1, by_rows ? 1 : rows + gap};
    const std::int64_t elements = rows * s.row_stride + columns * s.column_stride + 1;
    const std::size_t size = bytes_of(type);
    auto& bytes = memory_.emplace_back(static_cast<std::size_t>(elements) * size);
    for (std::size_t i = 0; i < static_cast<std::size_t>(elements); ++i)
      put_number(bytes.data() + i * size, type, value());
    return {.range = {{}, reinterpret_cast<std::uint64_t>(bytes.data()), bytes.size()}, .shape = s, .type = type};
  }

  expression leaf() {
    const dtype type = pick({dtype::f32, dtype::f16, dtype::bf16, dtype::f64, dtype::f8e5m2, dtype::i8, dtype::i32});
    switch (below(7)) {
      case 0:
        return value();
      case 1:
        return expression::reading(op::load_number, operand(1, 1, type));
      case 2:
        return expression::reading(op::load_row, operand(1, columns_, type));
      case 3:
        return expression::reading(op::load_column, operand(rows_, 1, type));
      case 4:
        return expression::reading(op::load, operand(rows_, columns_, type));
      default:
        return acc;
    }
  }

  expression unary(const expression& x) {
    const auto what =
        static_cast<op>(static_cast<std::size_t>(op::relu) +
                        below(static_cast<std::size_t>(op::d_hard_swish) - static_cast<std::size_t>(op::relu) + 1));
    const expression* const all[] = {&x};
    return expression::of(what, all);
  }

  expression binary(const expression& x, const expression& y) {
    switch (below(6)) {
      case 0:
        return x - y;
      case 1:
        return x * y;
      case 2:
        return max(x, y);
      case 3:
        return min(x, y);
      case 4:
        return leaky_relu(x, 0.25);
      default:
        return x + y;
    }
  }

  expression output(const expression& x) {
    const auto how = static_cast<reduction>(below(3));
    switch (below(4)) {
      case 0:
        return expression::reducing(x, how, reduction_scope::row, operand(rows_, 1, dtype::f64));
      case 1:
        return expression::reducing(x, how, reduction_scope::column, operand(1, columns_, dtype::f64));
      case 2:
        return expression::reducing(x, how, reduction_scope::all, operand(1, 1, dtype::f64));
      default:
        return expression::writing(x, operand(rows_, columns_, pick({dtype::f32, dtype::f16, dtype::i8})));
    }
  }

  std::mt19937_64 random_;
  std::int64_t rows_, columns_;
  std::vector<std::vector<std::byte>> memory_;
};

}  // namespace troupe::epilogue::testing

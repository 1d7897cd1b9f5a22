// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/blas/blas.hpp>

#include <tests/contract/contract.hpp>
#include <tests/numerics/layout.hpp>
#include <tests/numerics/reference.hpp>

/// Operands for the contract cases of `blas`: 4 by 4 matrices of small whole numbers, so that every order of summation
/// gives the same result.
namespace troupe::whole {

using numerics::answers;
using numerics::dense;
using numerics::layout;
using numerics::number;

inline constexpr std::int64_t size = 4;
inline const layout column = numerics::vector_of(size, 1), square = numerics::general(size, size, size),
                    lower = numerics::triangle_of(true, false, size, size),
                    packed = numerics::packed_triangle(true, false, size),
                    band = numerics::band(size, size, 1, 2, size),
                    lower_band = numerics::band_triangle(true, false, size, 2, 3),
                    unit_lower = numerics::triangle_of(true, true, size, size),
                    unit_packed = numerics::packed_triangle(true, true, size),
                    unit_band = numerics::band_triangle(true, true, size, 2, 3), single = numerics::vector_of(1, 1);

/// Returns element i of the memory of an operand.
template <class T>
T content_at(std::int64_t i, int first) {
  const auto value = static_cast<float>(static_cast<int>(i % 5) + first);
  if constexpr (numerics::is_complex_type<T>)
    return T(value, static_cast<float>(i % 3));
  else
    return T(value);
}
template <class T>
buffer<T> filled(const device& gpu, const layout& where, int first = 1) {
  std::vector<T> data;
  for (std::int64_t i = 0; i < where.span; ++i) data.push_back(content_at<T>(i, first));
  auto b = gpu.alloc<T>(where.span);
  gpu.upload(b, data);
  return b;
}
/// Returns the matrix that `filled` with the same arguments stores.
template <class T>
dense known(const layout& where, int first = 1) {
  dense out(where.rows, where.columns);
  for (std::int64_t j = 0; j < where.columns; ++j)
    for (std::int64_t i = 0; i < where.rows; ++i)
      if (where.place(i, j) >= 0) out(i, j) = content_at<T>(where.place(i, j), first);
  return out;
}
/// Returns the symmetric matrix whose lower triangle is stored in this layout.
template <class T>
dense symmetric(const layout& where) {
  return known<T>(where).completed(true, false);
}
template <class T>
dense hermitian(const layout& where) {
  return known<T>(where).completed(true, true);
}
template <class T>
dense unit_triangle(const layout& where) {
  return known<T>(where).with_unit_diagonal();
}
inline dense transposed(const dense& d) { return d.transposed(); }
inline dense adjoint(const dense& d) { return d.transposed().conjugated(); }

/// Expects that `operand` contains `want(i, j)` at each element.
template <class Operand, class Want>
void expect_elements(const device& gpu, const Operand& operand, const layout& where, Want&& want) {
  const auto got = content(gpu, operand);
  for (std::int64_t j = 0; j < where.columns; ++j)
    for (std::int64_t i = 0; i < where.rows; ++i) {
      if (where.place(i, j) < 0) continue;
      const number value = got[static_cast<std::size_t>(where.place(i, j))], expected = want(i, j);
      EXPECT_LE((value - expected).size(), 1e-5L * (1 + expected.size())) << "element " << i << ", " << j;
    }
}
template <class Operand>
void expect_holds(const device& gpu, const Operand& operand, const layout& where, const answers& want) {
  expect_elements(gpu, operand, where, [&](auto i, auto j) { return want(i, j).value; });
}
template <class Operand>
void expect_holds(const device& gpu, const Operand& operand, const layout& where, const dense& want) {
  expect_elements(gpu, operand, where, [&](auto i, auto j) { return want(i, j); });
}
template <class T>
void expect_answer(const result<T>& answer, number want) {
  EXPECT_LE((number(*answer) - want).size(), 1e-5L * (1 + want.size()));
}

/// A case whose request has the extent `n`. Case defines make(gpu, n) and expect_right.
template <class Case, class R>
struct sized {
  using request = R;
  using answer = result<reply_to<R>>;
  static request good(const device& gpu) { return Case::make(gpu, size); }
  static request bad(const device& gpu) { return Case::make(gpu, -size); }
  static constexpr const char* bad_field = "n is -4";
};

/// Returns `count` operands for a batch; the elements of operand i are those of `filled(first + i)`.
template <access_mode M, class T>
std::vector<operand<T, M>> several(const device& gpu, const layout& where, int first = 1, int count = 3) {
  std::vector<operand<T, M>> out;
  for (int i = 0; i < count; ++i) out.push_back(filled<T>(gpu, where, first + i));
  return out;
}

}  // namespace troupe::whole

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Batches of gemv and trsm, compared with a reference of higher precision.
#include <troupe/blas/batched.hpp>
#include <troupe/blas/testing/numerics.hpp>

namespace troupe::blas {
namespace {

template <class T>
class batched : public blas_numerics {};
TYPED_TEST_SUITE(batched, full_elements, element_names);

TYPED_TEST(batched, gemv_multiplies_matrices_and_vectors_at_any_address) {
  using T = TypeParam;
  for (int i = 0; i < 40 && !this->HasFailure(); ++i) {
    const std::int64_t m = this->size(60), n = this->size(60), lda = this->leading(m), incx = this->increment(),
                       incy = this->increment(), count = this->size(i == 0 ? 300 : 30);
    const op trans = this->any_op();
    const bool transposed = trans != op::none;
    const T alpha = this->template factor<T>(), beta = this->template factor<T>();
    gemv_batched<T> r{.a = {},
                      .x = {},
                      .y = {},
                      .m = m,
                      .n = n,
                      .trans = trans,
                      .alpha = this->given(alpha),
                      .beta = this->given(beta),
                      .lda = this->written(lda, m),
                      .incx = incx,
                      .incy = incy};
    std::deque<stored<T>> a, x, y;
    std::vector<answers> want;
    for (std::int64_t j = 0; j < count; ++j) {
      a.emplace_back(general(m, n, lda));
      x.emplace_back(vector_of(transposed ? m : n, incx));
      y.emplace_back(vector_of(transposed ? n : m, incy));
      if (!(alpha == T(0))) a.back().fill(this->random), x.back().fill(this->random);
      if (!(beta == T(0))) y.back().fill(this->random);
      r.a.push_back(a.back()), r.x.push_back(x.back()), r.y.push_back(y.back());
      want.push_back(reference::product(alpha, apply_op(trans, a.back().now()), x.back().now(), beta, y.back().now()));
    }
    SCOPED_TRACE(this->story(r));
    this->run(r);
    for (std::size_t j = 0; j < want.size(); ++j) {
      EXPECT_TRUE(all_agree(y[j], want[j]));
      EXPECT_TRUE(y[j].untouched_outside());
    }
  }
}

// Returns the layout of vectors at a stride, as the columns of one matrix.
layout strided(std::int64_t n, std::int64_t inc, std::int64_t batch, std::int64_t stride) {
  const layout one = vector_of(n, inc);
  return {n, batch, (batch - 1) * stride + one.span, [=](auto i, auto j) { return j * stride + one.place(i, 0); }};
}
// Returns the layout of matrices at a stride, as one matrix with the columns of all of them.
layout strided_matrices(std::int64_t rows, std::int64_t columns, std::int64_t ld, std::int64_t batch,
                        std::int64_t stride) {
  return {rows, columns * batch, (batch - 1) * stride + (columns - 1) * ld + rows,
          [=](auto i, auto j) { return j / columns * stride + i + j % columns * ld; }};
}
dense matrix(const dense& all, std::int64_t index, std::int64_t columns) {
  dense out(all.rows(), columns);
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < all.rows(); ++i) out(i, j) = all(i, index * columns + j);
  return out;
}
dense column(const dense& all, std::int64_t j) { return matrix(all, j, 1); }

TYPED_TEST(batched, gemv_supports_strided_interleaved_and_shared_operands) {
  using T = TypeParam;
  for (int i = 0; i < 60 && !this->HasFailure(); ++i) {
    const std::int64_t m = this->size(40), n = this->size(40), lda = this->leading(m), incx = this->increment(),
                       batch = this->size(30);
    const op trans = this->any_op();
    const bool transposed = trans != op::none, interleaved = i % 3 == 0;
    const std::int64_t nx = transposed ? m : n, ny = transposed ? n : m,
                       incy = interleaved ? batch * (i % 2 == 0 ? 1 : -1) : this->increment(),
                       stride_x = this->random.between(0, 1) * nx * std::abs(incx),
                       stride_y = interleaved ? 1 : ny * std::abs(incy) + this->random.between(0, 2);
    const std::int64_t tight_a = lda * n,
                       stride_a = this->random.one_of({std::int64_t{0}, tight_a, tight_a + this->random.between(1, 3)});
    const T alpha = this->template factor<T>(), beta = this->template factor<T>();
    stored<T> a(strided_matrices(m, n, lda, batch, stride_a)), x(strided(nx, incx, batch, stride_x)),
        y(strided(ny, incy, batch, stride_y));
    if (!(alpha == T(0))) a.fill(this->random), x.fill(this->random);
    if (!(beta == T(0))) y.fill(this->random);
    answers want(ny, batch);
    for (std::int64_t j = 0; j < batch; ++j) {
      const answers one = reference::product(alpha, apply_op(trans, matrix(a.now(), j, n)), column(x.now(), j), beta,
                                             column(y.now(), j));
      for (std::int64_t p = 0; p < ny; ++p) want(p, j) = one(p);
    }
    this->expect(gemv_strided_batched<T>{.a = a,
                                         .x = x,
                                         .y = y,
                                         .m = m,
                                         .n = n,
                                         .batch = batch,
                                         .trans = trans,
                                         .alpha = this->given(alpha),
                                         .beta = this->given(beta),
                                         .lda = this->written(lda, m),
                                         .incx = incx,
                                         .incy = incy,
                                         .stride_a = this->written(stride_a, tight_a),
                                         .stride_x = this->written(stride_x, nx * std::abs(incx)),
                                         .stride_y = this->written(stride_y, ny * std::abs(incy))},
                 y, want, a, x);
  }
}

TYPED_TEST(batched, trsm_solutions_reproduce_their_right_hand_sides) {
  using T = TypeParam;
  for (int i = 0; i < 40 && !this->HasFailure(); ++i) {
    const std::int64_t m = this->size(40), n = this->size(40), ldb = this->leading(m),
                       count = this->size(i == 0 ? 200 : 20);
    const side where = this->any_side();
    const triangle uplo = this->any_triangle();
    const op trans = this->any_op();
    const diagonal diag = this->any_diagonal();
    const std::int64_t order = where == side::left ? m : n, lda = this->leading(order);
    const T alpha = this->template factor<T>();
    trsm_batched<T> r{.a = {},
                      .b = {},
                      .m = m,
                      .n = n,
                      .side = where,
                      .uplo = uplo,
                      .trans = trans,
                      .diag = diag,
                      .alpha = this->given(alpha),
                      .lda = this->written(lda, order),
                      .ldb = this->written(ldb, m)};
    std::deque<stored<T>> a, b;
    for (std::int64_t l = 0; l < count; ++l) {
      auto& one = a.emplace_back(triangle_of(uplo == triangle::lower, diag == diagonal::unit, order, lda));
      one.fill(this->random);
      dense values = one.now();
      for (std::int64_t q = 0; q < order; ++q)
        for (std::int64_t p = 0; p < order; ++p)
          values(p, q) = p == q ? values(p, q) + number(values(p, q).re < 0 ? -1 : 1)
                                : values(p, q) * number(wide(1) / static_cast<wide>(order), 0);
      one.set(values);
      b.emplace_back(general(m, n, ldb));
      if (!(alpha == T(0))) b.back().fill(this->random);
      r.a.push_back(one), r.b.push_back(b.back());
    }
    SCOPED_TRACE(this->story(r));
    this->run(r);
    for (std::size_t l = 0; l < a.size(); ++l) {
      const dense meant = apply_op(trans, diag == diagonal::unit ? a[l].now().with_unit_diagonal() : a[l].now());
      answers back =
          where == side::left ? reference::product(meant, b[l].now()) : reference::product(b[l].now(), meant);
      const dense before = b[l].before();
      bool all = true;
      b[l].each([&](auto p, auto q) {
        expected& e = back(p, q);
        const number right = alpha == T(0) ? number(0) : number(alpha) * before(p, q);
        e.roundings = 2 * e.roundings + 6;
        e.magnitude += right.size();
        all &= agrees<T>(as_element<T>(right), e);
      });
      EXPECT_TRUE(all) << "solution " << l;
      EXPECT_TRUE(b[l].untouched_outside());
    }
  }
}

}  // namespace
}  // namespace troupe::blas

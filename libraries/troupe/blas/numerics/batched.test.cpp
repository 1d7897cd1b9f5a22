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
    const auto p = this->template any_parameters_up_to<T>(60);
    const std::int64_t count = this->size(i == 0 ? 300 : 30);
    auto r = this->with_options(gemv_batched<T>{.a = {}, .x = {}, .y = {}, .m = p.m, .n = p.n}, p);
    std::deque<stored<T>> a, x, y;
    std::vector<answers> want;
    for (std::int64_t j = 0; j < count; ++j) {
      a.emplace_back(general(p.m, p.n, p.lda));
      x.emplace_back(vector_of(p.size_x(), p.incx));
      y.emplace_back(vector_of(p.size_y(), p.incy));
      if (!(p.alpha == T(0))) a.back().fill(this->random), x.back().fill(this->random);
      if (!(p.beta == T(0))) y.back().fill(this->random);
      r.a.push_back(a.back()), r.x.push_back(x.back()), r.y.push_back(y.back());
      want.push_back(
          reference::product(p.alpha, apply_op(p.trans, a.back().now()), x.back().now(), p.beta, y.back().now()));
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
    auto p = this->template any_parameters_up_to<T>(40);
    const std::int64_t batch = this->size(30), nx = p.size_x(), ny = p.size_y();
    const bool interleaved = i % 3 == 0;
    if (interleaved) p.incy = batch * (i % 2 == 0 ? 1 : -1);
    const std::int64_t tight_a = p.lda * p.n, tight_x = nx * std::abs(p.incx), tight_y = ny * std::abs(p.incy),
                       stride_a = this->random.one_of({std::int64_t{0}, tight_a, tight_a + this->random.between(1, 3)}),
                       stride_x = this->random.between(0, 1) * tight_x,
                       stride_y = interleaved ? 1 : tight_y + this->random.between(0, 2);
    stored<T> a(strided_matrices(p.m, p.n, p.lda, batch, stride_a)), x(strided(nx, p.incx, batch, stride_x)),
        y(strided(ny, p.incy, batch, stride_y));
    if (!(p.alpha == T(0))) a.fill(this->random), x.fill(this->random);
    if (!(p.beta == T(0))) y.fill(this->random);
    answers want(ny, batch);
    for (std::int64_t j = 0; j < batch; ++j) {
      const answers one = reference::product(p.alpha, apply_op(p.trans, matrix(a.now(), j, p.n)), column(x.now(), j),
                                             p.beta, column(y.now(), j));
      for (std::int64_t q = 0; q < ny; ++q) want(q, j) = one(q);
    }
    auto r = this->with_options(gemv_strided_batched<T>{.a = a, .x = x, .y = y, .m = p.m, .n = p.n, .batch = batch}, p);
    r.stride_a = this->written(stride_a, tight_a);
    r.stride_x = this->written(stride_x, tight_x);
    r.stride_y = this->written(stride_y, tight_y);
    this->expect(r, y, want, a, x);
  }
}

TYPED_TEST(batched, trsm_solutions_reproduce_their_right_hand_sides) {
  using T = TypeParam;
  for (int i = 0; i < 40 && !this->HasFailure(); ++i) {
    auto p = this->template any_parameters_up_to<T>(40);
    p.lda = this->leading(p.order());
    const std::int64_t count = this->size(i == 0 ? 200 : 20);
    auto r = this->with_options(trsm_batched<T>{.a = {}, .b = {}, .m = p.m, .n = p.n}, p);
    std::deque<stored<T>> a, b;
    for (std::int64_t l = 0; l < count; ++l) {
      this->fill_triangle(a.emplace_back(triangle_of(p.lower(), p.unit(), p.order(), p.lda)));
      b.emplace_back(general(p.m, p.n, p.ldb));
      if (!(p.alpha == T(0))) b.back().fill(this->random);
      r.a.push_back(a.back()), r.b.push_back(b.back());
    }
    SCOPED_TRACE(this->story(r));
    this->run(r);
    for (std::size_t l = 0; l < a.size(); ++l) {
      const dense meant = p.op_of_triangle(a[l].now());
      answers back = p.left() ? reference::product(meant, b[l].now()) : reference::product(b[l].now(), meant);
      const dense before = b[l].before();
      bool all = true;
      b[l].each([&](auto row, auto column) {
        expected& e = back(row, column);
        const number right = p.alpha == T(0) ? number(0) : number(p.alpha) * before(row, column);
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

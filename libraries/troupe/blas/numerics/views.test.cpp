// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/blas/testing/numerics.hpp>
#include <troupe/blas/views.hpp>

namespace troupe::blas {
namespace {

using places = std::function<bool(std::int64_t, std::int64_t)>;

template <class T>
class views : public blas_numerics {
 protected:
  static constexpr int rounds = 150;

  // Returns the shape of a matrix that is stored by rows or by columns, sometimes with gaps.
  matrix_shape any_shape(std::int64_t rows, std::int64_t columns) {
    const std::int64_t gap = random.one_of<std::int64_t>({0, 0, random.between(1, 9)});
    return random.between(0, 1) == 0 ? matrix_shape{rows, columns, columns + gap, 1}
                                     : matrix_shape{rows, columns, 1, rows + gap};
  }
  // Returns a matrix of which only the elements (i, j) with `has(i, j)` are stored.
  static stored<T> with(const matrix_shape& s, const places& has = [](auto, auto) { return true; }) {
    return stored<T>({s.rows, s.columns, (s.rows - 1) * s.row_stride + (s.columns - 1) * s.column_stride + 1,
                      [=](auto i, auto j) { return has(i, j) ? i * s.row_stride + j * s.column_stride : -1; }});
  }
  template <access_mode M>
  static matrix_operand<T, M> view_of(stored<T>& memory, const matrix_shape& s) {
    return {operand<T, M>(memory), s};
  }
  static auto read(stored<T>& memory, const matrix_shape& s) { return view_of<access_mode::read>(memory, s); }
  static auto change(stored<T>& memory, const matrix_shape& s) { return view_of<access_mode::read_write>(memory, s); }
};
TYPED_TEST_SUITE(views, full_elements, element_names);

TYPED_TEST(views, multiplication_multiplies_matrices_in_either_order) {
  using T = TypeParam;
  for (int i = 0; i < this->rounds && !this->HasFailure(); ++i) {
    const std::int64_t m = this->size(90), n = this->size(90), k = this->size(90);
    const matrix_shape sa = this->any_shape(m, k), sb = this->any_shape(k, n), sc = this->any_shape(m, n);
    stored<T> a = this->with(sa), b = this->with(sb), c = this->with(sc);
    const T alpha = this->template factor<T>(), beta = this->template factor<T>();
    if (!(alpha == T(0))) a.fill(this->random), b.fill(this->random);
    if (!(beta == T(0))) c.fill(this->random);
    this->expect(multiplication<T>{.a = this->read(a, sa),
                                   .b = this->read(b, sb),
                                   .c = this->change(c, sc),
                                   .alpha = this->given(alpha),
                                   .beta = this->given(beta)},
                 c, reference::product(alpha, a.now(), b.now(), beta, c.now()), a, b);
  }
}

TYPED_TEST(views, addition_adds_matrices_in_either_order_or_in_place) {
  using T = TypeParam;
  for (int i = 0; i < this->rounds && !this->HasFailure(); ++i) {
    const std::int64_t m = this->size(90), n = this->size(90);
    const bool in_place = this->random.between(0, 3) == 0;
    const matrix_shape sa = this->any_shape(m, n), sb = this->any_shape(m, n),
                       sc = in_place ? sa : this->any_shape(m, n);
    stored<T> a = this->with(sa), b = this->with(sb), apart = this->with(sc);
    stored<T>& c = in_place ? a : apart;
    const T alpha = this->template factor<T>(), beta = this->template factor<T>();
    if (!(alpha == T(0))) a.fill(this->random);
    if (!(beta == T(0))) b.fill(this->random);
    this->expect(addition<T>{.a = this->read(a, sa),
                             .b = this->read(b, sb),
                             .c = this->template view_of<access_mode::write>(c, sc),
                             .alpha = this->given(alpha),
                             .beta = this->given(beta)},
                 c, reference::sum(alpha, a.now(), beta, b.now()), b);
    if (!in_place) {
      EXPECT_TRUE(a.untouched());
    }
  }
}

TYPED_TEST(views, triangular_solutions_reproduce_their_right_hand_sides) {
  using T = TypeParam;
  for (int i = 0; i < this->rounds && !this->HasFailure(); ++i) {
    const std::int64_t m = this->size(60), n = this->size(60);
    const side where = this->any_side();
    const triangle part = this->any_triangle();
    const diagonal diag = this->any_diagonal();
    const std::int64_t order = where == side::left ? m : n;
    const matrix_shape sa = this->any_shape(order, order), sb = this->any_shape(m, n);
    stored<T> a = this->with(sa, [=](auto p, auto q) {
      return p == q ? diag == diagonal::stored : part == triangle::lower ? p > q : p < q;
    });
    a.fill(this->random);
    dense values = a.now();  // far from singular
    for (std::int64_t q = 0; q < order; ++q)
      for (std::int64_t p = 0; p < order; ++p)
        values(p, q) = p == q ? values(p, q) + number(values(p, q).re < 0 ? -1 : 1)
                              : values(p, q) * number(wide(1) / static_cast<wide>(order), 0);
    a.set(values);
    const dense meant = diag == diagonal::unit ? a.now().with_unit_diagonal() : a.now();
    stored<T> b = this->with(sb);
    b.fill(this->random);
    const T alpha = T(2);
    const triangular_solution<T> r{.a = this->read(a, sa),
                                   .b = this->change(b, sb),
                                   .side = where,
                                   .uplo = part,
                                   .diag = diag,
                                   .alpha = this->given(alpha)};
    SCOPED_TRACE(this->story(r));
    const dense before = b.now();
    this->run(r);
    answers back = where == side::left ? reference::product(meant, b.now()) : reference::product(b.now(), meant);
    bool all = true;
    b.each([&](auto p, auto q) {
      const number right = number(alpha) * before(p, q);
      expected& e = back(p, q);
      e.roundings = 2 * e.roundings + 6;
      e.magnitude += right.size();
      all &= agrees<T>(as_element<T>(right), e);
    });
    EXPECT_TRUE(all);
    EXPECT_TRUE(b.untouched_outside());
    EXPECT_TRUE(a.untouched());
  }
}

}  // namespace
}  // namespace troupe::blas

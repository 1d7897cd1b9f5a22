// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/blas/rotations.hpp>
#include <troupe/blas/testing/numerics.hpp>

namespace troupe::blas {
namespace {

template <class T>
class rotations : public blas_numerics {
 protected:
  // c * x + s * y and c * y - conj(s) * x
  void expect_turned(const std::function<void(stored<T>&, stored<T>&, std::int64_t, std::int64_t, std::int64_t)>& turn,
                     number c, number s) {
    const std::int64_t n = size(300), incx = increment(), incy = increment();
    stored<T> x(vector_of(n, incx)), y(vector_of(n, incy));
    x.fill(random);
    y.fill(random);
    // As sums of two products, whatever the factors: rot always multiplies.
    dense h(2, 2), both(2, n);
    h(0, 0) = c, h(0, 1) = s, h(1, 0) = number(0) - s.conjugated(), h(1, 1) = c;
    const dense vx = x.now(), vy = y.now();
    for (std::int64_t i = 0; i < n; ++i) both(0, i) = vx(i), both(1, i) = vy(i);
    const answers turned = reference::product(h, both);
    answers want_x(n, 1), want_y(n, 1);
    for (std::int64_t i = 0; i < n; ++i) want_x(i) = turned(0, i), want_y(i) = turned(1, i);
    turn(x, y, n, incx, incy);
    EXPECT_TRUE(all_agree(x, want_x));
    EXPECT_TRUE(all_agree(y, want_y));
    EXPECT_TRUE(x.untouched_outside());
    EXPECT_TRUE(y.untouched_outside());
  }
};
TYPED_TEST_SUITE(rotations, full_elements, element_names);
template <class T>
class real_rotations : public rotations<T> {};
TYPED_TEST_SUITE(real_rotations, real_elements, element_names);
template <class T>
class complex_rotations : public rotations<T> {};
TYPED_TEST_SUITE(complex_rotations, complex_elements, element_names);

TYPED_TEST(rotations, rot_turns_two_vectors) {
  using T = TypeParam;
  for (int i = 0; i < 150 && !this->HasFailure(); ++i) {
    const auto c = this->template factor<real_of<T>>();
    const T s = this->template factor<T>();
    this->expect_turned(
        [&](auto& x, auto& y, auto n, auto incx, auto incy) {
          this->run(
              rot<T>{.x = x, .y = y, .n = n, .c = this->given(c), .s = this->given(s), .incx = incx, .incy = incy});
        },
        c, s);
  }
}

TYPED_TEST(complex_rotations, rot_may_have_a_real_sine) {
  using T = TypeParam;
  for (int i = 0; i < 150 && !this->HasFailure(); ++i) {
    const auto c = this->template factor<real_of<T>>(), s = this->template factor<real_of<T>>();
    this->expect_turned(
        [&](auto& x, auto& y, auto n, auto incx, auto incy) {
          this->run(rot<T, real_of<T>>{
              .x = x, .y = y, .n = n, .c = this->given(c), .s = this->given(s), .incx = incx, .incy = incy});
        },
        c, s);
  }
}

TYPED_TEST(rotations, rotg_makes_a_rotation_that_leaves_nothing_in_the_second_place) {
  using T = TypeParam;
  using real = real_of<T>;
  for (int i = 0; i < 300 && !this->HasFailure(); ++i) {
    const T a = this->template factor<T>(), b = this->template factor<T>();
    const rotg<T> r{.a = this->given(a), .b = this->given(b)};
    SCOPED_TRACE(this->story(r));
    const auto got = this->engine->run(r);
    ASSERT_TRUE(got) << got.error().to_string();
    const number c = got->c, s = got->s, na = a, nb = b;
    const wide size = na.size() + nb.size();
    const auto small = [&](number v) { return v.size() <= 8 * widen(std::numeric_limits<real>::epsilon()) * size; };
    EXPECT_TRUE(small(c * na + s * nb - number(got->r))) << numerics::detail::digits(c * na + s * nb);
    EXPECT_TRUE(small(c * nb - s.conjugated() * na));
    if (size != 0) {
      EXPECT_NEAR(static_cast<double>((c * c + s * s.conjugated()).re), 1, 1e-6);
    }
    if (is_complex<T>) {
      EXPECT_EQ(got->z, T(0));
    }
  }
}

// What BLAS's z says: 1 when c is 0, s when |a| > |b|, else 1 / c. The first were computed by cuBLAS 13.
TYPED_TEST(real_rotations, rotg_follows_the_signs_and_the_packing_of_blas) {
  using T = TypeParam;
  struct {
    T a, b, r, z, c, s;
  } const known[] = {{3, 4, 5, T(1) / T(0.6L), T(0.6L), T(0.8L)},
                     {4, 3, 5, T(0.6L), T(0.8L), T(0.6L)},
                     {-3, 4, 5, T(-1) / T(0.6L), T(-0.6L), T(0.8L)},
                     {-4, 3, -5, T(-0.6L), T(0.8L), T(-0.6L)},
                     {0, 0, 0, 0, 1, 0},
                     {0, 2, 2, 1, 0, 1},
                     {2, 0, 2, 0, 1, 0}};
  for (const auto& k : known) {
    const auto got = this->engine->run(rotg<T>{.a = k.a, .b = k.b});
    ASSERT_TRUE(got);
    constexpr double near = 1e-6;
    EXPECT_NEAR(got->r, k.r, near) << k.a << ", " << k.b;
    EXPECT_NEAR(got->z, k.z, near) << k.a << ", " << k.b;
    EXPECT_NEAR(got->c, k.c, near) << k.a << ", " << k.b;
    EXPECT_NEAR(got->s, k.s, near) << k.a << ", " << k.b;
  }
}

TYPED_TEST(rotations, rotg_writes_its_parts_where_they_are_wanted_also_over_its_inputs) {
  using T = TypeParam;
  stored<T> a(vector_of(1, 1)), b(vector_of(1, 1)), s(vector_of(1, 1));
  stored<real_of<T>> c(vector_of(1, 1));
  a.fill(this->random);
  b.fill(this->random);
  const auto by_value = this->engine->run(rotg<T>{.a = a.at(0), .b = b.at(0)});
  rotg<T> r{.a = scalar<T>::at(reinterpret_cast<std::uintptr_t>(&a.at(0))),
            .b = scalar<T>::at(reinterpret_cast<std::uintptr_t>(&b.at(0)))};
  r.r = out<T>(a), r.z = out<T>(b), r.c = out<real_of<T>>(c), r.s = out<T>(s);
  const auto in_memory = this->engine->run(r);
  ASSERT_TRUE(by_value && in_memory);
  EXPECT_EQ(a.at(0), by_value->r);
  EXPECT_EQ(b.at(0), by_value->z);
  EXPECT_EQ(c.at(0), by_value->c);
  EXPECT_EQ(s.at(0), by_value->s);
  EXPECT_EQ(in_memory->s, by_value->s);
}

// [h11 h12; h21 h22] as the flag says it.
template <class T>
dense whole(const modified_rotation<T>& p) {
  dense h(2, 2);
  h(0, 0) = p.flag == 0 || p.flag == -2 ? T(1) : p.h11;
  h(1, 1) = p.flag == 0 || p.flag == -2 ? T(1) : p.h22;
  h(0, 1) = p.flag == 1 ? T(1) : p.flag == -2 ? T(0) : p.h12;
  h(1, 0) = p.flag == 1 ? T(-1) : p.flag == -2 ? T(0) : p.h21;
  return h;
}

TYPED_TEST(real_rotations, rotm_multiplies_by_what_its_flag_says) {
  using T = TypeParam;
  for (int i = 0; i < 200 && !this->HasFailure(); ++i) {
    const std::int64_t n = this->size(200), incx = this->increment(), incy = this->increment();
    stored<T> x(vector_of(n, incx)), y(vector_of(n, incy));
    x.fill(this->random);
    y.fill(this->random);
    modified_rotation<T> p{this->random.template one_of<T>({-2, -1, 0, 1}), this->template factor<T>(),
                           this->template factor<T>(), this->template factor<T>(), this->template factor<T>()};
    const dense h = whole(p);
    dense both(2, n);
    const dense vx = x.now(), vy = y.now();
    for (std::int64_t j = 0; j < n; ++j) both(0, j) = vx(j), both(1, j) = vy(j);
    const answers turned = reference::product(h, both);
    answers want_x(n, 1), want_y(n, 1);
    for (std::int64_t j = 0; j < n; ++j) want_x(j) = turned(0, j), want_y(j) = turned(1, j);
    const rotm<T> r{.x = x, .y = y, .n = n, .param = this->given(p), .incx = incx, .incy = incy};
    this->expect(r, x, want_x);
    EXPECT_TRUE(all_agree(y, want_y));
    EXPECT_TRUE(y.untouched_outside());
  }
}

TYPED_TEST(real_rotations, rotmg_makes_a_modified_rotation_that_leaves_nothing_in_the_second_place) {
  using T = TypeParam;
  for (int i = 0; i < 300 && !this->HasFailure(); ++i) {
    const T d1 = std::abs(this->template factor<T>()) + T(0.1), d2 = std::abs(this->template factor<T>()) + T(0.1),
            x1 = this->template factor<T>(), y1 = this->template factor<T>();
    stored<T> new_d1(vector_of(1, 1)), new_x1(vector_of(1, 1));
    rotmg<T> r{.d1 = this->given(d1), .d2 = this->given(d2), .x1 = this->given(x1), .y1 = this->given(y1)};
    r.new_d1 = out<T>(new_d1), r.new_x1 = out<T>(new_x1);
    SCOPED_TRACE(this->story(r));
    const auto got = this->engine->run(r);
    ASSERT_TRUE(got) << got.error().to_string();
    EXPECT_EQ(new_d1.at(0), got->d1);
    EXPECT_EQ(new_x1.at(0), got->x1);
    const dense h = whole(got->param);
    const wide limit = 16 * widen(std::numeric_limits<T>::epsilon()) * (h(1, 0).size() + h(1, 1).size() + 1);
    EXPECT_LE(std::fabs(h(1, 0).re * widen(x1) + h(1, 1).re * widen(y1)), limit);
    EXPECT_NEAR(static_cast<double>(h(0, 0).re * widen(x1) + h(0, 1).re * widen(y1)), got->x1, 1e-5);
    // The scaled length stays: d1 x1^2 + d2 y1^2.
    EXPECT_NEAR(got->d1 * got->x1 * got->x1, d1 * x1 * x1 + d2 * y1 * y1, 1e-5);
  }
}

}  // namespace
}  // namespace troupe::blas

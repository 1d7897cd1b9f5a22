// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <map>
#include <troupe/blas/level1/rotations.hpp>
#include <troupe/blas/testing/numerics.hpp>

namespace troupe::blas {
namespace {

template <class T>
class rotations : public blas_numerics {
 protected:
  // Checks c * x + s * y and c * y - conj(s) * x.
  void expect_turned(const std::function<void(stored<T>&, stored<T>&, std::int64_t, std::int64_t, std::int64_t)>& turn,
                     number c, number s) {
    const std::int64_t n = size(300), incx = increment(), incy = increment();
    stored<T> x(vector_of(n, incx)), y(vector_of(n, incy));
    x.fill(random);
    y.fill(random);
    // Computes both as sums of two products, whatever the factors are: rot always multiplies.
    dense h(2, 2), both(2, n);
    h(0, 0) = c, h(0, 1) = s, h(1, 0) = number(0) - s.conjugated(), h(1, 1) = c;
    const dense vx = x.now(), vy = y.now();
    for (std::int64_t i = 0; i < n; ++i) both(0, i) = vx(i), both(1, i) = vy(i);
    const answers rotated = reference::product(h, both);
    answers want_x(n, 1), want_y(n, 1);
    for (std::int64_t i = 0; i < n; ++i) want_x(i) = rotated(0, i), want_y(i) = rotated(1, i);
    turn(x, y, n, incx, incy);
    EXPECT_TRUE(all_agree(x, want_x));
    EXPECT_TRUE(all_agree(y, want_y));
    EXPECT_TRUE(x.untouched_outside());
    EXPECT_TRUE(y.untouched_outside());
  }
};
TYPED_TEST_SUITE(rotations, full_elements, element_names);
TROUPE_SUITE_LIKE(rotations, real_rotations, real_elements);
TROUPE_SUITE_LIKE(rotations, complex_rotations, complex_elements);

TYPED_TEST(rotations, rot_rotates_two_vectors) {
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

// Computes a rotation by the definition; a long double needs no scaling.
struct wanted_rotation {
  number r, c, s;
};
wanted_rotation rotation_of(number a, number b, bool real) {
  if (real && b == number(0)) return {a, 1, 0};
  if (a == number(0)) return {b, 0, 1};
  const wide size_a = std::hypot(a.re, a.im), size_b = std::hypot(b.re, b.im), length = std::hypot(size_a, size_b);
  if (!real) {
    const number direction(a.re / size_a, a.im / size_a);
    return {direction * number(length), size_a / length, direction * b.conjugated() * number(1 / length)};
  }
  const wide r = std::copysign(length, size_a > size_b ? a.re : b.re);
  return {r, a.re / r, b.re / r};
}
// Compares up to a few rounding errors of the result's own type.
template <class T>
::testing::AssertionResult close_to(const T& got, number want, wide condition = 1) {
  return one_agrees(got, expected{as_element<T>(want), want.size(), static_cast<std::int64_t>(8 * condition)});
}

template <class T>
void expect_rotation(const rotation<T>& got, const T& a, const T& b) {
  const wanted_rotation want = rotation_of(a, b, is_real<T>);
  EXPECT_TRUE(close_to(got.r, want.r)) << "r";
  EXPECT_TRUE(close_to(got.c, want.c)) << "c";
  EXPECT_TRUE(close_to(got.s, want.s)) << "s";
  // Computed from the returned c, because a c near 0 has few correct digits.
  number z = 0;
  if constexpr (is_real<T>)
    if (b != 0) z = std::abs(a) > std::abs(b) ? widen(got.s) : got.c == 0 ? 1 : 1 / widen(got.c);
  EXPECT_TRUE(close_to(got.z, z)) << "z";
}

TYPED_TEST(rotations, rotg_computes_the_rotation_that_zeroes_the_second_component) {
  using T = TypeParam;
  for (int i = 0; i < 300 && !this->HasFailure(); ++i) {
    const T a = this->template factor<T>(), b = this->template factor<T>();
    const rotg<T> r{.a = this->given(a), .b = this->given(b)};
    SCOPED_TRACE(this->story(r));
    const auto got = this->engine->run(r);
    ASSERT_TRUE(got) << got.error().to_string();
    expect_rotation(*got, a, b);
  }
}

TYPED_TEST(rotations, rotg_has_no_intermediate_overflow_or_underflow) {
  using T = TypeParam;
  using limits = std::numeric_limits<real_of<T>>;
  const auto expect_right = [this](number na, number nb) {
    const T a = as_element<T>(na), b = as_element<T>(nb);
    const rotg<T> r{.a = a, .b = b};
    SCOPED_TRACE(this->story(r));
    const auto got = this->engine->run(r);
    ASSERT_TRUE(got) << got.error().to_string();
    expect_rotation(*got, a, b);
  };
  const auto at = [](number v, int exponent) { return number(std::ldexp(v.re, exponent), std::ldexp(v.im, exponent)); };
  // Uses values such as 3e-200 and 4e-200, whose squares underflow double.
  for (const int exponent : {limits::min_exponent - limits::digits + 1, limits::min_exponent, limits::min_exponent / 2,
                             limits::max_exponent / 2, limits::max_exponent - 3})
    for (const number direction : {number(1), is_complex<T> ? number(3, -4) : number(-1)})
      expect_right(at(number(3) * direction, exponent - 2), at(number(4), exponent - 2));
  const wide most = limits::max();
  expect_right(number(most * 0.7L), number(most * -0.7L));
  if (is_complex<T>) {  // |a| overflows its type, but r does not
    expect_right(number(most * 0.72L, most * 0.72L), number(most * 0.55L));
  }
  // One component is so small that only its direction matters.
  expect_right(number(-widen(limits::min())), number(most / 2));
  expect_right(number(most / 2), number(-widen(limits::denorm_min())));
  for (int i = 0; i < 300 && !this->HasFailure(); ++i) {
    const auto any = [&] {
      return at(number(as_element<T>({this->random.value(), this->random.value()})),
                static_cast<int>(this->random.between(limits::min_exponent - 10, limits::max_exponent - 2)));
    };
    expect_right(any(), any());
  }
}

TYPED_TEST(real_rotations, rotg_has_correct_c_and_s_if_r_is_out_of_range) {
  using T = TypeParam;
  constexpr T most = std::numeric_limits<T>::max();
  const auto got = this->engine->run(rotg<T>{.a = most, .b = -most});
  ASSERT_TRUE(got);
  EXPECT_EQ(got->r, -std::numeric_limits<T>::infinity());
  EXPECT_TRUE(close_to(got->c, -std::sqrt(0.5L)));
  EXPECT_TRUE(close_to(got->s, std::sqrt(0.5L)));
}

// BLAS's z is 1 if c is 0, s if |a| > |b|, otherwise 1 / c. The expected values of the first cases were computed by
// cuBLAS 13. Infinities follow c = a / r and s = b / r.
TYPED_TEST(real_rotations, rotg_uses_the_signs_and_encoding_of_blas) {
  using T = TypeParam;
  constexpr T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  struct {
    T a, b;
    wide r, z, c, s;
  } const known[] = {{3, 4, 5, 1 / 0.6L, 0.6L, 0.8L},
                     {4, 3, 5, 0.6L, 0.8L, 0.6L},
                     {-3, 4, 5, -1 / 0.6L, -0.6L, 0.8L},
                     {-4, 3, -5, -0.6L, 0.8L, -0.6L},
                     {0, 0, 0, 0, 1, 0},
                     {0, 2, 2, 1, 0, 1},
                     {2, 0, 2, 0, 1, 0},
                     {inf, 0, inf, 0, 1, 0},
                     {0, -inf, -inf, 1, 0, 1},
                     {-inf, 3, -inf, 0, nan, 0},
                     {3, -inf, -inf, 1, 0, nan},
                     {inf, -inf, -inf, nan, nan, nan},
                     {nan, 1, nan, nan, nan, nan},
                     {inf, nan, nan, nan, nan, nan}};
  for (const auto& k : known) {
    const auto got = this->engine->run(rotg<T>{.a = k.a, .b = k.b});
    ASSERT_TRUE(got);
    EXPECT_TRUE(close_to(got->r, k.r)) << k.a << ", " << k.b;
    EXPECT_TRUE(close_to(got->z, k.z)) << k.a << ", " << k.b;
    EXPECT_TRUE(close_to(got->c, k.c)) << k.a << ", " << k.b;
    EXPECT_TRUE(close_to(got->s, k.s)) << k.a << ", " << k.b;
  }
}

TYPED_TEST(rotations, rotg_writes_its_parts_to_memory_even_over_its_inputs) {
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

// Returns the matrix [h11 h12; h21 h22] that the flag selects.
template <class T>
dense whole(const modified_rotation<T>& p) {
  dense h(2, 2);
  h(0, 0) = p.flag == 0 || p.flag == -2 ? T(1) : p.h11;
  h(1, 1) = p.flag == 0 || p.flag == -2 ? T(1) : p.h22;
  h(0, 1) = p.flag == 1 ? T(1) : p.flag == -2 ? T(0) : p.h12;
  h(1, 0) = p.flag == 1 ? T(-1) : p.flag == -2 ? T(0) : p.h21;
  return h;
}

TYPED_TEST(real_rotations, rotm_applies_the_matrix_that_its_flag_selects) {
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
    const answers rotated = reference::product(h, both);
    answers want_x(n, 1), want_y(n, 1);
    for (std::int64_t j = 0; j < n; ++j) want_x(j) = rotated(0, j), want_y(j) = rotated(1, j);
    const rotm<T> r{.x = x, .y = y, .n = n, .param = this->given(p), .incx = incx, .incy = incy};
    this->expect(r, x, want_x);
    EXPECT_TRUE(all_agree(y, want_y));
    EXPECT_TRUE(y.untouched_outside());
  }
}

// Computes the result of rotmg by the formulas of Lawson et al. (1979) in higher precision. OpenBLAS first checks
// whether there is anything to rotate, and does not scale pure swaps; its results are rotations too.
struct wanted_modified {
  wide d1, d2, x1, flag, h11, h21, h12, h22;
  wide condition = 1;  // the factor by which errors grow if a negative d2 cancels
};
// `least` is BLAS's constant for 2^-24, which is rounded to 8 digits.
wanted_modified modified_of(wide d1, wide d2, wide x1, wide y1, wide least) {
  constexpr wanted_modified nothing{0, 0, 0, -1, 0, 0, 0, 0};
  const wide p1 = d1 * x1, p2 = d2 * y1, q1 = p1 * x1, q2 = p2 * y1;
  if (p2 == 0) return {d1, d2, x1, -2, 0, 0, 0, 0};
  if (d1 < 0) return nothing;
  if (p1 == 0 && q2 > 0) return {d2, d1, y1, 1, 0, 0, 0, 0};
  wanted_modified out;
  if (std::fabs(q1) > std::fabs(q2)) {
    const wide h21 = -y1 / x1, h12 = p2 / p1, u = 1 - h12 * h21;
    out = {d1 / u, d2 / u, x1 * u, 0, 1, h21, h12, 1, (1 + std::fabs(h12 * h21)) / std::fabs(u)};
  } else if (q2 < 0) {
    return nothing;
  } else {
    const wide h11 = p1 / p2, h22 = x1 / y1, u = 1 + h11 * h22;
    out = {d2 / u, d1 / u, y1 * u, 1, h11, -1, 1, h22};
  }
  // d1 and d2 are kept near 1 by powers of 4096. If they were scaled, all four elements of H are stored.
  constexpr wide gamma = 4096, square = gamma * gamma;
  for (wide v = std::fabs(out.d1); v != 0 && (v <= least || v >= square); v = std::fabs(out.d1), out.flag = -1) {
    const wide by = v >= square ? 1 / gamma : gamma;
    out.d1 *= by * by, out.x1 /= by, out.h11 /= by, out.h12 /= by;
  }
  for (wide v = std::fabs(out.d2); v != 0 && (v <= least || v >= square); v = std::fabs(out.d2), out.flag = -1) {
    const wide by = v >= square ? 1 / gamma : gamma;
    out.d2 *= by * by, out.h21 /= by, out.h22 /= by;
  }
  if (out.flag == 0) out.h11 = out.h22 = 0;
  if (out.flag == 1) out.h21 = out.h12 = 0;
  return out;
}

TYPED_TEST(real_rotations, rotmg_computes_the_modified_rotation_that_zeroes_the_second_component) {
  using T = TypeParam;
  std::map<int, int> flags;
  for (int i = 0; i < 600 && !this->HasFailure(); ++i) {
    // Half of the values are so far from 1 that d1 or d2 must be scaled. None is a power of two, which could be exactly
    // at a limit of scaling.
    const int spread = i % 2 == 0 ? 1 : 50;
    const auto any = [&](int most) {
      const double v = 0.5 + std::abs(this->random.value()) / 2;
      return static_cast<T>(std::ldexp(v, static_cast<int>(this->random.between(-most, most))));
    };
    const auto zero_or = [&](T v) { return this->random.between(0, 19) == 0 ? T(0) : v; };
    const auto signed_ = [&](T v, std::int64_t of) { return this->random.between(1, of) == 1 ? -v : v; };
    const T d1 = zero_or(signed_(any(spread), 20)), d2 = zero_or(signed_(any(spread), 10)),
            x1 = zero_or(signed_(any(1 + spread / 5), 2)), y1 = zero_or(signed_(any(1 + spread / 5), 2));
    stored<T> new_d1(vector_of(1, 1)), new_d2(vector_of(1, 1)), new_x1(vector_of(1, 1)), param(vector_of(5, 1));
    rotmg<T> r{.d1 = this->given(d1), .d2 = this->given(d2), .x1 = this->given(x1), .y1 = this->given(y1)};
    r.new_d1 = out<T>(new_d1), r.new_d2 = out<T>(new_d2), r.new_x1 = out<T>(new_x1);
    r.param = out<modified_rotation<T>>(reinterpret_cast<std::uintptr_t>(param.data()), 1);
    SCOPED_TRACE(this->story(r));
    const auto got = this->engine->run(r);
    ASSERT_TRUE(got) << got.error().to_string();
    const wanted_modified want = modified_of(widen(d1), widen(d2), widen(x1), widen(y1), T(5.9604645e-8));
    EXPECT_TRUE(close_to(got->d1, want.d1, want.condition)) << "d1";
    EXPECT_TRUE(close_to(got->d2, want.d2, want.condition)) << "d2";
    EXPECT_TRUE(close_to(got->x1, want.x1, want.condition)) << "x1";
    EXPECT_EQ(widen(got->param.flag), want.flag);
    EXPECT_TRUE(close_to(got->param.h11, want.h11)) << "h11";
    EXPECT_TRUE(close_to(got->param.h21, want.h21)) << "h21";
    EXPECT_TRUE(close_to(got->param.h12, want.h12)) << "h12";
    EXPECT_TRUE(close_to(got->param.h22, want.h22)) << "h22";
    EXPECT_EQ(new_d1.at(0), got->d1);
    EXPECT_EQ(new_d2.at(0), got->d2);
    EXPECT_EQ(new_x1.at(0), got->x1);
    EXPECT_EQ(std::memcmp(param.data(), &got->param, sizeof got->param), 0);
    for (auto* one : {&new_d1, &new_d2, &new_x1, &param}) EXPECT_TRUE(one->untouched_outside());
    ++flags[static_cast<int>(want.flag)];
  }
  for (const int flag : {-2, -1, 0, 1}) EXPECT_GE(flags[flag], 10) << "flag " << flag << " is hardly tested";
}

}  // namespace
}  // namespace troupe::blas

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// Functions of the prelude: their types must be CUDA's, and their values are compared with series, or with the
// functions that they invert.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "compiled.hpp"

namespace troupe::cuda_on_host::testing {

TEST(functions, have_the_types_of_cuda) {
  const compiled c = compile_text(R"(
template <class A, class B> inline constexpr bool same = false;
template <class A> inline constexpr bool same<A, A> = true;
static_assert(same<decltype(umin(1u, 2u)), unsigned> && same<decltype(umax(1u, 2u)), unsigned>);
static_assert(same<decltype(llmin(1ll, 2ll)), long long> && same<decltype(ullmax(1ull, 2ull)), unsigned long long>);
static_assert(same<decltype(erfinv(1.0f)), float> && same<decltype(erfcinv(1.0f)), float>);
static_assert(same<decltype(erfcx(1.0f)), float> && same<decltype(normcdfinv(1.0f)), float>);
static_assert(same<decltype(rcbrt(1.0f)), float> && same<decltype(j0(1.0f)), float> && same<decltype(yn(2, 1.0f)), float>);
static_assert(same<decltype(erfinv(1.0)), double> && same<decltype(j0(1.0)), double>);
extern "C" __global__ void least(long long* out) { *out = umin(3000000000u, 4000000000u); }
)",
                                  {});
  ASSERT_FALSE(c.bytes.empty()) << c.messages;
  long long least = 0;
  run(load(c), "least", {1}, {1}, 0, &least);
  EXPECT_EQ(least, 3000000000);
}

TEST(functions, invert_distributions_accurately_near_0_and_1) {
  const loaded_image image = load_text(R"(
extern "C" __global__ void f(double x, double* y) {
  y[0] = erfinv(x); y[1] = normcdfinv(x); y[2] = erfcinv(x); y[3] = erfcx(x);
}
)");
  const auto all = [&](double x) {
    std::vector<double> y(4);
    run(image, "f", {1}, {1}, 0, x, y.data());
    return y;
  };
  const double half_root_of_pi = 0.88622692545275801365, pi = 3.14159265358979323846;
  for (const double x : {1e-300, 1e-17, 1e-12, 1e-6, 1e-3, -1e-17, -1e-9}) {
    const double want = half_root_of_pi * (x + pi / 12 * x * x * x + 7 * pi * pi / 480 * x * x * x * x * x);
    EXPECT_NEAR(all(x)[0] / want, 1, 1e-15) << x;
  }
  EXPECT_EQ(all(0.0)[0], 0.0);
  for (const double x : {0.1, 0.3, 0.49, 0.5, 0.51, 0.7, 0.9, 0.999, -0.2, -0.8, 1 - 1e-12})
    EXPECT_NEAR(std::erfc(all(x)[0]) / (1 - x), 1, 1e-14) << x;
  for (const double x : {1e-300, 1e-20, 1e-3, 0.24, 0.26, 0.5, 0.74, 0.9}) {
    EXPECT_NEAR(0.5 * std::erfc(-all(x)[1] / std::sqrt(2.0)) / x, 1, 1e-12) << x;
    EXPECT_NEAR(std::erfc(all(x)[2]) / x, 1, 1e-12) << x;
  }
  const double step = std::ldexp(1.0, -40);  // 1/2 + step is exact
  EXPECT_NEAR(all(0.5 + step)[1] / (step * std::sqrt(2 * pi)), 1, 1e-15);
  EXPECT_TRUE(std::isinf(all(1.0)[0]) && std::isnan(all(1.5)[0]));
  // exp(x^2) erfc(x) = 1 / (sqrt(pi) x) (1 - 1 / (2 x^2) + 3 / (4 x^4) - ...), also as a product where that is
  // possible.
  EXPECT_NEAR(all(3.0)[3] / (std::exp(9.0) * std::erfc(3.0)), 1, 1e-14);
  EXPECT_NEAR(all(24.999)[3] / all(25.001)[3], 25.001 / 24.999, 1e-6);
  double series = 1, term = 1;
  for (int k = 1; k < 20; ++k) series += term *= -(2 * k - 1) / (2 * 26.0 * 26.0);
  EXPECT_NEAR(all(26.0)[3] * 26.0 * std::sqrt(pi) / series, 1, 1e-15);
  series = term = 1;
  for (int k = 1; k < 20; ++k) series += term *= -(2 * k - 1) / (2 * 20.3 * 20.3);
  EXPECT_NEAR(all(20.3)[3] * 20.3 * std::sqrt(pi) / series, 1, 1e-14);
}

// The results of each operation, rounded down and up, enclose the exact one and are adjacent numbers; the one
// rounded towards zero is one of them.
TEST(functions, round_in_the_direction_of_their_name) {
  const loaded_image image = load_text(R"(
#define ALL(name, ...) name##_rd(__VA_ARGS__), name##_ru(__VA_ARGS__), name##_rz(__VA_ARGS__)
extern "C" __global__ void floats(float x, float y, float z, float* out) {
  const float all[] = {ALL(__fadd, x, y), ALL(__fsub, x, y), ALL(__fmul, x, y), ALL(__fdiv, x, y), ALL(__frcp, x),
                       ALL(__fsqrt, fabsf(x)), ALL(__fmaf, x, y, z)};
  for (int i = 0; i < 21; ++i) out[i] = all[i];
}
extern "C" __global__ void doubles(double x, double y, double z, double* out) {
  const double all[] = {ALL(__dadd, x, y), ALL(__dsub, x, y), ALL(__dmul, x, y), ALL(__ddiv, x, y), ALL(__drcp, x),
                        ALL(__dsqrt, fabs(x)), ALL(__fma, x, y, z)};
  for (int i = 0; i < 21; ++i) out[i] = all[i];
}
extern "C" __global__ void converted(double x, int i, unsigned u, long long l, unsigned long long m, double* out) {
  const double all[] = {ALL(__double2float, x), ALL(__int2float, i), ALL(__uint2float, u), ALL(__ll2float, l),
                        ALL(__ull2float, m), ALL(__ll2double, l), ALL(__ull2double, m)};
  for (int i = 0; i < 21; ++i) out[i] = all[i];
}
)");
  random_source random;
  const auto expect = [](long double exact, auto down, auto up, auto zero, const char* what) {
    EXPECT_LE(static_cast<long double>(down), exact) << what;
    EXPECT_GE(static_cast<long double>(up), exact) << what;
    EXPECT_TRUE(down == up || std::nextafter(down, INFINITY) == up) << what << ": " << down << ", " << up;
    EXPECT_EQ(zero, exact < 0 ? up : down) << what;
  };
  for (int n = 0; n < 20; ++n) {
    const auto x = static_cast<float>(random.value()), y = static_cast<float>(random.value() * 3 + 4),
               z = static_cast<float>(random.value());
    const long double lx = x, ly = y, lz = z;
    std::vector<float> f(21);
    run(image, "floats", {1}, {1}, 0, x, y, z, f.data());
    const std::pair<const char*, long double> exact[] = {{"add", lx + ly},
                                                         {"subtract", lx - ly},
                                                         {"multiply", lx * ly},
                                                         {"divide", lx / ly},
                                                         {"rcp", 1 / lx},
                                                         {"sqrt", sqrtl(fabsl(lx))},
                                                         {"multiply and add", lx * ly + lz}};
    for (std::size_t i = 0; i < 7; ++i) expect(exact[i].second, f[3 * i], f[3 * i + 1], f[3 * i + 2], exact[i].first);
    // The 64 bits of a long double do not suffice to determine the exact result: the numbers adjacent to the nearest
    // are accepted.
    std::vector<double> d(21);
    run(image, "doubles", {1}, {1}, 0, double{x} / 3, double{y} / 7, double{z} / 11, d.data());
    const double dx = double{x} / 3, dy = double{y} / 7, dz = double{z} / 11;
    const double nearest[] = {
        dx + dy, dx - dy, dx * dy, dx / dy, 1 / dx, std::sqrt(std::fabs(dx)), std::fma(dx, dy, dz)};
    for (std::size_t i = 0; i < 7; ++i) {
      EXPECT_LE(d[3 * i], nearest[i]) << i;
      EXPECT_GE(d[3 * i + 1], nearest[i]) << i;
      EXPECT_TRUE(d[3 * i] == d[3 * i + 1] || std::nextafter(d[3 * i], INFINITY) == d[3 * i + 1]) << i;
      EXPECT_EQ(d[3 * i + 2], nearest[i] < 0 ? d[3 * i + 1] : d[3 * i]) << i;
    }
    const double value = double{x} / 3;
    const int i = static_cast<int>(random.between(-2000000000, 2000000000));
    const auto u = static_cast<unsigned>(random.between(0, 4000000000));
    const long long l = random.between(-9000000000000000000, 9000000000000000000);
    const auto m = static_cast<unsigned long long>(random.between(0, 9000000000000000000)) * 2 + 1;
    std::vector<double> c(21);
    run(image, "converted", {1}, {1}, 0, value, i, u, l, m, c.data());
    const long double of[] = {static_cast<long double>(value), static_cast<long double>(i), static_cast<long double>(u),
                              static_cast<long double>(l),     static_cast<long double>(m), static_cast<long double>(l),
                              static_cast<long double>(m)};
    for (std::size_t k = 0; k < 5; ++k)
      expect(of[k], static_cast<float>(c[3 * k]), static_cast<float>(c[3 * k + 1]), static_cast<float>(c[3 * k + 2]),
             "a conversion to float");
    for (std::size_t k = 5; k < 7; ++k) expect(of[k], c[3 * k], c[3 * k + 1], c[3 * k + 2], "a conversion to double");
  }
}

TEST(functions, work_on_the_parts_of_a_word_one_by_one) {
  const loaded_image image = load_text(R"(
#include <cuda_fp16.h>
extern "C" __global__ void k(const unsigned* a, const unsigned* b, unsigned* y) {
  const unsigned u = a[threadIdx.x], v = b[threadIdx.x];
  y += 10 * threadIdx.x;
  y[0] = __vsub4(u, v);
  y[1] = __vsubss4(u, v);
  y[2] = __vaddus2(u, v);
  y[3] = __vmaxs4(u, v);
  y[4] = __vminu2(u, v);
  y[5] = __vcmpne4(u, v);
  y[6] = __vcmplts2(u, v);
  y[7] = __vabsdiffu4(u, v);
  y[8] = __vneg2(u);
  __builtin_assume(threadIdx.x < 1024);
  y[9] = __hgt2_mask(make_half2(u & 0xff, v & 0xff), make_half2(v & 0xff, u & 0xff));
})");
  random_source random;
  std::vector<unsigned> a(256), b(256), y(10 * 256);
  for (unsigned& u : a) u = static_cast<unsigned>(random.between(0, 0xffffffff));
  for (unsigned& u : b) u = static_cast<unsigned>(random.between(0, 0xffffffff));
  b[0] = a[0];
  a[1] = 0x807f8080, b[1] = 0x7f80807f;
  run(image, "k", {1}, {256}, 0, static_cast<const unsigned*>(a.data()), static_cast<const unsigned*>(b.data()),
      y.data());
  const auto parts = [](auto type, unsigned u, unsigned v, const auto& f) {
    using part = decltype(type);
    part x[4 / sizeof(part)], z[4 / sizeof(part)];
    std::memcpy(x, &u, 4);
    std::memcpy(z, &v, 4);
    for (std::size_t i = 0; i < std::size(x); ++i) x[i] = static_cast<part>(f(int{x[i]}, int{z[i]}));
    unsigned out = 0;
    std::memcpy(&out, x, 4);
    return out;
  };
  using u8 = std::uint8_t;
  using s8 = std::int8_t;
  using u16 = std::uint16_t;
  using s16 = std::int16_t;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const unsigned u = a[i], v = b[i], first = u & 0xff, second = v & 0xff;
    const std::vector<unsigned> want{parts(u8(), u, v, [](int x, int z) { return x - z; }),
                                     parts(s8(), u, v, [](int x, int z) { return std::clamp(x - z, -128, 127); }),
                                     parts(u16(), u, v, [](int x, int z) { return std::min(x + z, 65535); }),
                                     parts(s8(), u, v, [](int x, int z) { return std::max(x, z); }),
                                     parts(u16(), u, v, [](int x, int z) { return std::min(x, z); }),
                                     parts(u8(), u, v, [](int x, int z) { return x != z ? 255 : 0; }),
                                     parts(s16(), u, v, [](int x, int z) { return x < z ? -1 : 0; }),
                                     parts(u8(), u, v, [](int x, int z) { return std::abs(x - z); }),
                                     parts(u16(), u, v, [](int x, int) { return -x; }),
                                     first > second   ? 0xffffu
                                     : first < second ? 0xffff0000u
                                                      : 0u};
    EXPECT_EQ(std::vector<unsigned>(y.begin() + 10 * static_cast<long>(i), y.begin() + 10 * static_cast<long>(i) + 10),
              want)
        << std::hex << u << " and " << v << "; " << how_to_repeat();
  }
}

}  // namespace troupe::cuda_on_host::testing

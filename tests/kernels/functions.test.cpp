// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// Functions of the prelude: their types are CUDA's, and their values are compared with series, or with what they
// invert.
#include <cmath>

#include "compiled.hpp"

namespace troupe::kernel::testing {

TEST(functions, have_the_types_that_cuda_gives_them) {
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

TEST(functions, that_invert_distributions_are_exact_near_nothing_and_near_everything) {
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
  // exp(x^2) erfc(x) = 1 / (sqrt(pi) x) (1 - 1 / (2 x^2) + 3 / (4 x^4) - ...), and the same as a product where that can
  // be.
  EXPECT_NEAR(all(3.0)[3] / (std::exp(9.0) * std::erfc(3.0)), 1, 1e-14);
  EXPECT_NEAR(all(24.999)[3] / all(25.001)[3], 25.001 / 24.999, 1e-6);
  double series = 1, term = 1;
  for (int k = 1; k < 20; ++k) series += term *= -(2 * k - 1) / (2 * 26.0 * 26.0);
  EXPECT_NEAR(all(26.0)[3] * 26.0 * std::sqrt(pi) / series, 1, 1e-15);
  series = term = 1;
  for (int k = 1; k < 20; ++k) series += term *= -(2 * k - 1) / (2 * 20.3 * 20.3);
  EXPECT_NEAR(all(20.3)[3] * 20.3 * std::sqrt(pi) / series, 1, 1e-14);
}

}  // namespace troupe::kernel::testing

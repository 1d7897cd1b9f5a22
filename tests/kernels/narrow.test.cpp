// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// half and bfloat16 in kernels, compared with the library's own types and with wider arithmetic.
#include <cmath>
#include <troupe/base/bfloat16.hpp>
#include <troupe/base/half.hpp>

#include "compiled.hpp"

namespace troupe::cuda_on_host::testing {

namespace {

const char* const operations = R"(
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <typename T>
__device__ void all(T a, T b, T c, T* out) {
  out[0] = a + b;
  out[1] = a - b;
  out[2] = a * b;
  out[3] = a / b;
  out[4] = __hfma(a, b, c);
  out[5] = hsqrt(__habs(a));
  out[6] = __hmax(a, b);
  out[7] = __hmin(a, b);
}
template <typename T>
__global__ void evaluate(const T* in, T* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) all(in[3 * i], in[3 * i + 1], in[3 * i + 2], out + 8 * i);
}
__global__ void widen_half(const __half* in, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = __half2float(in[i]);
}
__global__ void narrow_half(const float* in, __half* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __float2half(in[i]);
}
__global__ void narrow_bfloat16(const float* in, __nv_bfloat16* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __float2bfloat16(in[i]);
}
)";

// Returns the number of type T nearest to a value that is known to many more bits, ties to even, by comparing it
// with the two adjacent numbers.
template <class T>
bool is_nearest(T got, long double exact) {
  if (std::isnan(exact)) return std::isnan(float(got));
  const auto bits = std::bit_cast<std::uint16_t>(got);
  if (std::isnan(float(got))) return false;
  const auto value = [](std::uint16_t b) -> long double {
    const auto v = static_cast<long double>(float(std::bit_cast<T>(b)));
    if (!std::isinf(v)) return v;
    // Returns the value of an infinity for rounding: the number after the largest.
    const auto largest =
        static_cast<long double>(float(std::bit_cast<T>(static_cast<std::uint16_t>((b & 0x7fff) - 1))));
    const auto before = static_cast<long double>(float(std::bit_cast<T>(static_cast<std::uint16_t>((b & 0x7fff) - 2))));
    return std::copysign(2 * largest - before, v);
  };
  if (std::isinf(exact)) return float(got) == static_cast<float>(exact);
  const long double mine = std::fabs(value(bits) - exact);
  for (const int step : {-1, 1}) {
    const int magnitude = (bits & 0x7fff) + step;
    const auto infinity = std::bit_cast<std::uint16_t>(T(std::numeric_limits<float>::infinity()));
    if (magnitude < 0 || magnitude > infinity) continue;
    const long double other = std::fabs(value(static_cast<std::uint16_t>((bits & 0x8000) | magnitude)) - exact);
    if (other < mine || (other == mine && (bits & 1) != 0)) return false;
  }
  return true;
}

// a * b + c. The product of two narrow numbers is exact; an inexact sum is rounded to odd, so that it can be rounded
// again.
long double product_and_sum(long double a, long double b, long double c) {
  const long double product = a * b, sum = product + c;
  const long double larger = std::fabs(product) > std::fabs(c) ? product : c, smaller = larger == product ? c : product;
  const long double lost = smaller - (sum - larger);
  if (!std::isfinite(sum) || lost == 0) return sum;
  // The exact sum is between these two; the odd one is not on a rounding boundary of T.
  const long double infinity = std::numeric_limits<long double>::infinity();
  const long double other = std::nextafter(sum, lost > 0 ? infinity : -infinity);
  int exponent = 0;
  const auto digits = static_cast<std::uint64_t>(std::ldexp(std::frexp(std::fabs(sum), &exponent), 64));
  return digits % 2 == 1 ? sum : other;
}

template <class T>
void check_operations(const loaded_image& image, const std::string& kernel, random_source& random) {
  const int n = 40'000;
  std::vector<T> in(3 * n), out(8 * n);
  for (std::size_t i = 0; i < in.size(); ++i)
    in[i] = std::bit_cast<T>(static_cast<std::uint16_t>(random.between(0, 0xffff)));
  // Sums of numbers of similar size, where rounding matters most.
  for (std::size_t i = 0; i < in.size() / 2; ++i)
    in[i] = T(static_cast<float>(random.value() * std::exp2(double(random.between(-6, 3)))));
  run(image, kernel, {(n + 127) / 128}, {128}, 0, static_cast<void*>(in.data()), static_cast<void*>(out.data()), n);
  for (std::size_t i = 0; i < n; ++i) {
    const long double a = float(in[3 * i]), b = float(in[3 * i + 1]), c = float(in[3 * i + 2]);
    const long double want[] = {a + b, a - b, a * b, a / b, product_and_sum(a, b, c), std::sqrt(std::fabs(a))};
    for (std::size_t k = 0; k < std::size(want); ++k)
      ASSERT_TRUE(is_nearest(out[8 * i + k], want[k]))
          << kernel << " operation " << k << " of " << double(a) << ", " << double(b) << ", " << double(c) << ": got "
          << float(out[8 * i + k]) << ", want " << double(want[k]) << "; " << how_to_repeat();
    if (std::isnan(a) || std::isnan(b)) continue;
    ASSERT_EQ(float(out[8 * i + 6]), std::fmax(float(a), float(b)));
    ASSERT_EQ(float(out[8 * i + 7]), std::fmin(float(a), float(b)));
  }
}

}  // namespace

TEST(narrow, each_operation_rounds_once_to_nearest_even) {
  random_source random;
  const loaded_image image = load_text(operations, {.kernels = {"evaluate<__half>", "evaluate<__nv_bfloat16>"}});
  check_operations<half>(image, "evaluate<__half>", random);
  check_operations<bfloat16>(image, "evaluate<__nv_bfloat16>", random);
}

TEST(narrow, conversions_agree_with_the_library_for_all_codes_and_many_floats) {
  random_source random;
  const loaded_image image = load_text(operations, {.kernels = {"widen_half", "narrow_half", "narrow_bfloat16"}});
  std::vector<half> codes(65536);
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = std::bit_cast<half>(static_cast<std::uint16_t>(i));
  std::vector<float> wide(codes.size());
  run(image, "widen_half", {256}, {256}, 0, static_cast<void*>(codes.data()), wide.data());
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const float want = float(codes[i]);
    ASSERT_TRUE(std::isnan(want) ? std::isnan(wide[i])
                                 : std::bit_cast<std::uint32_t>(want) == std::bit_cast<std::uint32_t>(wide[i]))
        << i;
  }
  std::vector<float> floats(200'000);
  for (float& f : floats) f = std::bit_cast<float>(static_cast<std::uint32_t>(random.between(0, 0xffffffff)));
  for (std::size_t i = 0; i < 50'000; ++i)
    floats[i] = static_cast<float>(random.value() * std::exp2(double(random.between(-26, 17))));
  std::vector<half> halves(floats.size());
  std::vector<bfloat16> brains(floats.size());
  const int n = static_cast<int>(floats.size());
  run(image, "narrow_half", {1000}, {256}, 0, floats.data(), static_cast<void*>(halves.data()), n);
  run(image, "narrow_bfloat16", {1000}, {256}, 0, floats.data(), static_cast<void*>(brains.data()), n);
  for (std::size_t i = 0; i < floats.size(); ++i) {
    if (std::isnan(floats[i])) {
      ASSERT_TRUE(std::isnan(float(halves[i])) && std::isnan(float(brains[i]))) << floats[i];
      continue;
    }
    ASSERT_EQ(float(halves[i]), float(half(floats[i]))) << floats[i] << "; " << how_to_repeat();
    ASSERT_EQ(float(brains[i]), float(bfloat16(floats[i]))) << floats[i] << "; " << how_to_repeat();
  }
}

TEST(narrow, kernels_in_half_and_bfloat16) {
  random_source random;
  for (const loaded_image& image : both_ways("halves.cu", {})) {
    const int pairs = 500;
    std::vector<half> x(2 * pairs), y(2 * pairs), p(2 * pairs);
    for (half& h : x) h = half(static_cast<float>(random.value()));
    for (half& h : y) h = half(static_cast<float>(random.value()));
    const std::vector<half> before = y;
    const half a(0.75f);
    run(image, "axpy_half2", {4}, {128}, 0, pairs, a, static_cast<void*>(x.data()), static_cast<void*>(y.data()));
    run(image, "polynomial_half", {8}, {128}, 0, 2 * pairs, static_cast<void*>(x.data()), static_cast<void*>(p.data()));
    for (std::size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(float(y[i]), float(half(static_cast<float>(0.75 * float(x[i]) + float(before[i]))))) << how_to_repeat();
      const float v = float(x[i]);
      half r = half(float(half(0.5f * v)) + 1.25f);
      r = half(float(half(float(r) * v)) - 3.0f);
      ASSERT_EQ(float(p[i]), float(half(float(r) / float(half(std::fabs(v) + 1.0f))))) << how_to_repeat();
    }
    std::vector<bfloat16> u(700), w(700);
    for (bfloat16& b : u) b = bfloat16(static_cast<float>(random.value()));
    const std::vector<float> z = random_floats(random, u.size());
    run(image, "mix_bfloat16", {2}, {128}, 0, 700, 0.5f, static_cast<void*>(u.data()), z.data(),
        static_cast<void*>(w.data()));
    for (std::size_t i = 0; i < u.size(); ++i)
      ASSERT_EQ(float(w[i]), float(bfloat16(float(u[i]) * 0.5f + z[i]))) << how_to_repeat();
  }
}

}  // namespace troupe::cuda_on_host::testing

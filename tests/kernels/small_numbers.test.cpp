// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// Numbers of 8 and 4 bits in kernels, compared with the library's own types.
#include <cmath>
#include <troupe/base/float4.hpp>
#include <troupe/base/float8.hpp>
#include <troupe/base/float8_e8m0.hpp>
#include <troupe/base/half.hpp>

#include "compiled.hpp"

namespace troupe::cuda_on_host::testing {

namespace {

const char* const conversions = R"(
#include <cuda_fp4.h>
#include <cuda_fp8.h>

template <class T>
__global__ void widen(const unsigned char* codes, float* out) {
  T x;
  x.__x = codes[threadIdx.x];
  out[threadIdx.x] = static_cast<float>(x);
}
template <class T>
__global__ void narrow(const float* in, unsigned char* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = T(in[i]).__x;
}
__global__ void without_saturation(const float* in, unsigned char* e4m3, unsigned char* e5m2, unsigned char* e8m0, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  e4m3[i] = __nv_cvt_float_to_fp8(in[i], __NV_NOSAT, __NV_E4M3);
  e5m2[i] = __nv_cvt_double_to_fp8(in[i], __NV_NOSAT, __NV_E5M2);
  e8m0[i] = __nv_cvt_float_to_e8m0(in[i], __NV_NOSAT, cudaRoundZero);
}
__global__ void several(unsigned* out, float* back) {
  const __nv_fp4x4_e2m1 four(make_float4(1.0f, -0.5f, 6.0f, 3.0f));
  const float4 fours = static_cast<float4>(four);
  const __nv_fp8x2_e4m3 two(make_float2(1.0f, -2.0f));
  const __half2_raw halves = __nv_cvt_fp8x2_to_halfraw2(two.__x, __NV_E4M3);
  const __nv_bfloat16 scale = __nv_cvt_e8m0_to_bf16raw(130);
  out[0] = four.__x;
  out[1] = two.__x;
  out[2] = halves.x | halves.y << 16;
  out[3] = __nv_cvt_float2_to_fp4x2(make_float2(2.9f, 2.9f), __NV_E2M1, cudaRoundZero);
  out[4] = __nv_fp8_e5m2(3).__x;
  out[5] = static_cast<int>(__nv_fp8_e4m3(-7.5f));
  back[0] = fours.x;
  back[1] = fours.y;
  back[2] = fours.z;
  back[3] = fours.w;
  back[4] = static_cast<float>(scale);
}
)";

const std::vector<std::string> names = {"__nv_fp8_e4m3", "__nv_fp8_e5m2", "__nv_fp8_e8m0", "__nv_fp4_e2m1"};

loaded_image image_of_all() {
  std::vector<std::string> kernels{"without_saturation", "several"};
  for (const std::string& name : names) {
    kernels.push_back("widen<" + name + ">");
    kernels.push_back("narrow<" + name + ">");
  }
  return load_text(conversions, {.kernels = kernels});
}

std::vector<float> floats_near(random_source& random, int lowest, int highest) {
  std::vector<float> out(60'000);
  for (float& f : out) f = static_cast<float>(random.value() * std::exp2(double(random.between(lowest, highest))));
  for (std::size_t i = 0; i < 20'000; ++i)
    out[i] = std::bit_cast<float>(static_cast<std::uint32_t>(random.between(0, 0xffffffff)));
  for (std::size_t i = 20'000; i < 30'000; ++i)  // many are half way between two codes
    out[i] = std::ldexp(static_cast<float>(random.between(-64, 64)), static_cast<int>(random.between(lowest, highest)));
  const float limit = std::numeric_limits<float>::infinity();
  for (const float f : {limit, -limit, 0.0f, -0.0f, 448.0f, 464.0f, 465.0f, 57344.0f, 61439.0f, 61440.0f, 6.0f, 1e9f})
    out.push_back(f);
  return out;
}

template <class T>
void check_both_ways(const loaded_image& image, const std::string& name, random_source& random) {
  std::vector<std::uint8_t> codes(std::is_same_v<T, float4_e2m1> ? 16 : 256);
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::uint8_t>(i);
  std::vector<float> wide(codes.size());
  run(image, "widen<" + name + ">", {1}, {static_cast<std::uint32_t>(codes.size())}, 0,
      static_cast<const unsigned char*>(codes.data()), wide.data());
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const float want = float(T::from_bits(codes[i]));
    EXPECT_TRUE(std::isnan(want) ? std::isnan(wide[i])
                                 : std::bit_cast<std::uint32_t>(want) == std::bit_cast<std::uint32_t>(wide[i]))
        << name << " " << i << ": " << wide[i] << " instead of " << want;
  }
  const std::vector<float> in = floats_near(random, -20, 18);
  std::vector<std::uint8_t> out(in.size());
  const int n = static_cast<int>(in.size());
  run(image, "narrow<" + name + ">", {300}, {256}, 0, in.data(), out.data(), n);
  for (std::size_t i = 0; i < in.size(); ++i) {
    T want{};
    if constexpr (std::is_same_v<T, float8_e8m0>)
      want = T::convert(in[i], on_overflow::saturate, scale_rounding::up);
    else
      want = saturate_cast<T>(in[i]);
    const T got = T::from_bits(out[i]);
    const bool both_nan = std::isnan(float(want)) && std::isnan(float(got));
    ASSERT_TRUE(both_nan || got.bits == want.bits) << name << " of " << in[i] << ": " << int{out[i]} << " instead of "
                                                   << int{want.bits} << "; " << how_to_repeat();
  }
}

}  // namespace

TEST(small_numbers, conversions_agree_with_the_library_for_all_codes_and_many_floats) {
  random_source random;
  const loaded_image image = image_of_all();
  check_both_ways<float8_e4m3>(image, names[0], random);
  check_both_ways<float8_e5m2>(image, names[1], random);
  check_both_ways<float8_e8m0>(image, names[2], random);
  check_both_ways<float4_e2m1>(image, names[3], random);

  const std::vector<float> in = floats_near(random, -20, 18);
  std::vector<std::uint8_t> e4m3(in.size()), e5m2(in.size()), e8m0(in.size());
  run(image, "without_saturation", {300}, {256}, 0, in.data(), e4m3.data(), e5m2.data(), e8m0.data(),
      static_cast<int>(in.size()));
  for (std::size_t i = 0; i < in.size(); ++i) {
    const auto same = [&](auto want, std::uint8_t code) {
      const auto got = decltype(want)::from_bits(code);
      return got.bits == want.bits || (std::isnan(float(want)) && std::isnan(float(got)));
    };
    ASSERT_TRUE(same(float8_e4m3(in[i]), e4m3[i])) << in[i] << ": " << int{e4m3[i]} << "; " << how_to_repeat();
    ASSERT_TRUE(same(float8_e5m2(in[i]), e5m2[i])) << in[i] << ": " << int{e5m2[i]} << "; " << how_to_repeat();
    ASSERT_TRUE(same(float8_e8m0::convert(in[i], on_overflow::standard, scale_rounding::down), e8m0[i]))
        << in[i] << ": " << int{e8m0[i]} << "; " << how_to_repeat();
  }
}

TEST(small_numbers, several_share_a_word_with_the_first_in_its_low_bits) {
  std::vector<unsigned> words(6);
  std::vector<float> back(5);
  run(image_of_all(), "several", {1}, {1}, 0, words.data(), back.data());
  const unsigned minus_two = std::bit_cast<std::uint16_t>(half(-2.0f)), one = std::bit_cast<std::uint16_t>(half(1.0f));
  EXPECT_EQ(words,
            (std::vector<unsigned>{0x5792, 0xc038, one | minus_two << 16, 0x44, 0x42, static_cast<unsigned>(-7)}));
  EXPECT_EQ(back, (std::vector<float>{1.0f, -0.5f, 6.0f, 3.0f, 8.0f}));
}

}  // namespace troupe::cuda_on_host::testing

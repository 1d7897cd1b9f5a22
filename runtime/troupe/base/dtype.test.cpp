// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <complex>
#include <string>
#include <troupe/base/bfloat16.hpp>
#include <troupe/base/complex.hpp>
#include <troupe/base/dtype.hpp>
#include <troupe/base/float4.hpp>
#include <troupe/base/float8.hpp>
#include <troupe/base/float8_e8m0.hpp>
#include <troupe/base/half.hpp>

namespace troupe {
namespace {

template <class T>
void expect_dtype(const char* name, dtype_kind kind) {
  EXPECT_EQ(to_string(dtype_of<T>), name);
  EXPECT_EQ(dtype_of<const T>, dtype_of<T>);
  EXPECT_EQ(bytes_of(dtype_of<T>), sizeof(T)) << name;
  EXPECT_EQ(info(dtype_of<T>).kind, kind) << name;
  EXPECT_TRUE(is_known(dtype_of<T>)) << name;
}

TEST(dtype, every_element_type_has_its_name_size_and_kind) {
  expect_dtype<half>("f16", dtype_kind::floating);
  expect_dtype<bfloat16>("bf16", dtype_kind::floating);
  expect_dtype<float8_e4m3>("f8e4m3", dtype_kind::floating);
  expect_dtype<float8_e5m2>("f8e5m2", dtype_kind::floating);
  expect_dtype<float8_e8m0>("f8e8m0", dtype_kind::scale);
  expect_dtype<float4_e2m1>("f4e2m1", dtype_kind::floating);
  expect_dtype<float4_e2m1x2>("f4e2m1x2", dtype_kind::floating);
  expect_dtype<float>("f32", dtype_kind::floating);
  expect_dtype<double>("f64", dtype_kind::floating);
  expect_dtype<complex64>("c64", dtype_kind::complex);
  expect_dtype<complex128>("c128", dtype_kind::complex);
  expect_dtype<std::int8_t>("i8", dtype_kind::signed_integer);
  expect_dtype<std::uint8_t>("u8", dtype_kind::unsigned_integer);
  expect_dtype<std::byte>("u8", dtype_kind::unsigned_integer);
  expect_dtype<std::int16_t>("i16", dtype_kind::signed_integer);
  expect_dtype<std::uint16_t>("u16", dtype_kind::unsigned_integer);
  expect_dtype<std::int32_t>("i32", dtype_kind::signed_integer);
  expect_dtype<std::uint32_t>("u32", dtype_kind::unsigned_integer);
  expect_dtype<std::int64_t>("i64", dtype_kind::signed_integer);
  expect_dtype<long long>("i64", dtype_kind::signed_integer);
  expect_dtype<std::uint64_t>("u64", dtype_kind::unsigned_integer);
  expect_dtype<unsigned long long>("u64", dtype_kind::unsigned_integer);
  expect_dtype<bool>("bool", dtype_kind::boolean);
  expect_dtype<complex_half>("c32", dtype_kind::complex);
  expect_dtype<complex_bfloat16>("cbf16", dtype_kind::complex);
}

TEST(dtype, a_number_that_names_no_type_is_unknown) {
  int known = 0;
  for (int i = 0; i < 256; ++i) {
    const auto t = static_cast<dtype>(i);
    known += is_known(t);
    EXPECT_EQ(is_known(t), bytes_of(t) != 0) << i;
    EXPECT_EQ(is_known(t), to_string(t) != "unknown") << i;
  }
  EXPECT_EQ(known, 22);
  EXPECT_FALSE(is_known(dtype{}));
  EXPECT_EQ(static_cast<int>(dtype::boolean), 20);  // stored in files: must not change
}

TEST(dtype, types_without_a_dtype_are_not_elements) {
  static_assert(element<half> && element<const double> && element<complex64>);
  static_assert(!element<char> && !element<long double> && !element<void> && !element<int*> && !element<std::string>);
}

TEST(complex, has_the_layout_of_the_standard_type) {
  static_assert(sizeof(complex64) == 8 && alignof(complex64) == alignof(std::complex<float>));
  static_assert(sizeof(complex128) == 16 && alignof(complex128) == alignof(std::complex<double>));
  static_assert(std::is_trivially_copyable_v<complex64> && std::is_standard_layout_v<complex64>);
  static_assert(std::is_trivially_default_constructible_v<complex128>);
  const auto z = std::bit_cast<std::complex<float>>(complex64(3, -4));
  EXPECT_EQ(z, std::complex<float>(3, -4));
}

TEST(complex, converts_implicitly_to_the_standard_type_and_back) {
  const complex64 a = std::complex<float>(1, 2);
  const std::complex<float> b = a;
  const std::complex<float> c(a);
  EXPECT_EQ(b, c);
  const complex64 product = b * std::complex<float>(0, 1);
  EXPECT_EQ(product, complex64(-2, 1));
  static_assert(!std::is_convertible_v<std::complex<double>, complex64> &&
                !std::is_convertible_v<complex64, std::complex<double>>);
}

TEST(complex, converts_implicitly_from_real_numbers_and_narrower_types_only) {
  const complex64 one = 1;
  EXPECT_EQ(one, complex64(1, 0));
  const complex128 wide = complex64(0.5f, 0.25f);
  EXPECT_EQ(wide, complex128(0.5, 0.25));
  EXPECT_EQ(complex64(complex128(0.1, 0)).real, 0.1f);
  static_assert(!std::is_convertible_v<complex128, complex64> && std::is_convertible_v<complex64, complex128>);
  static_assert(complex64{} == complex64(0, 0));
  EXPECT_NE(complex64(1, 2), complex64(1, 3));
}

}  // namespace
}  // namespace troupe

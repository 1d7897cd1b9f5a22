// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <numbers>
#include <troupe/fft/fft.hpp>

#include <tests/contract/contract.hpp>

namespace troupe::whole {
namespace {

constexpr std::int64_t n = 8;

template <class T>
buffer<T> impulse(const device& gpu, std::size_t count, std::size_t at, T value) {
  std::vector<T> data(count, T{});
  data[at] = value;
  auto b = gpu.alloc<T>(count);
  gpu.upload(b, data);
  return b;
}
template <class Operand, class T>
void expect_all_near(const device& gpu, const Operand& operand, const std::vector<T>& want) {
  const auto got = content(gpu, operand);
  ASSERT_GE(got.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    if constexpr (requires { want[i].real; }) {
      EXPECT_NEAR(got[i].real, want[i].real, 1e-5) << i;
      EXPECT_NEAR(got[i].imag, want[i].imag, 1e-5) << i;
    } else {
      EXPECT_NEAR(got[i], want[i], 1e-5) << i;
    }
  }
}

// The transform of an impulse at index 1 is exp(-2 pi i k / n): once around the unit circle.
template <class T>
std::vector<basic_complex<T>> one_turn(std::size_t count) {
  std::vector<basic_complex<T>> out;
  for (std::size_t k = 0; k < count; ++k) {
    const double angle = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
    out.push_back({static_cast<T>(std::cos(angle)), static_cast<T>(std::sin(angle))});
  }
  return out;
}

template <class R>
struct with_n {
  using request = R;
  static constexpr const char* bad_field = "n is {-8}";
};

template <class T>
struct c2c : with_n<fft::c2c<basic_complex<T>>> {
  using C = basic_complex<T>;
  static fft::c2c<C> make(const device& gpu, extent size) {
    return {.input = impulse<C>(gpu, n, 1, C(1)), .output = gpu.alloc<C>(n), .n = size};
  }
  static fft::c2c<C> good(const device& gpu) { return make(gpu, n); }
  static fft::c2c<C> bad(const device& gpu) { return make(gpu, -n); }
  static void expect_right(const device& gpu, const fft::c2c<C>& r, const result<void>&) {
    expect_all_near(gpu, r.output, one_turn<T>(n));
  }
};

template <class T>
struct r2c : with_n<fft::r2c<T>> {
  static fft::r2c<T> make(const device& gpu, extent size) {
    return {.input = impulse<T>(gpu, n, 1, T(1)), .output = gpu.alloc<basic_complex<T>>(n / 2 + 1), .n = size};
  }
  static fft::r2c<T> good(const device& gpu) { return make(gpu, n); }
  static fft::r2c<T> bad(const device& gpu) { return make(gpu, -n); }
  static void expect_right(const device& gpu, const fft::r2c<T>& r, const result<void>&) {
    expect_all_near(gpu, r.output, one_turn<T>(n / 2 + 1));
  }
};

template <class T>
struct c2r : with_n<fft::c2r<T>> {
  using C = basic_complex<T>;
  static fft::c2r<T> make(const device& gpu, extent size) {
    auto spectrum = gpu.alloc<C>(n / 2 + 1);
    gpu.upload(spectrum, one_turn<T>(n / 2 + 1));
    return {.input = spectrum, .output = gpu.alloc<T>(n), .n = size, .normalization = fft::normalization::inverse};
  }
  static fft::c2r<T> good(const device& gpu) { return make(gpu, n); }
  static fft::c2r<T> bad(const device& gpu) { return make(gpu, -n); }
  static void expect_right(const device& gpu, const fft::c2r<T>& r, const result<void>&) {
    std::vector<T> want(n);
    want[1] = 1;
    expect_all_near(gpu, r.output, want);
  }
};

template <class T>
struct prepare : with_n<fft::prepare<T>> {
  static fft::prepare<T> good(const device&) { return {.n = n}; }
  static fft::prepare<T> bad(const device&) { return {.n = -n}; }
  static void expect_right(const device&, const fft::prepare<T>&, const result<fft::plan_info>& a) {
    EXPECT_LT(a->work_bytes, std::uint64_t{1} << 30);
  }
};

// The same transforms, as requests on tensors.
template <class T>
struct complex_transform {
  using C = basic_complex<T>;
  using request = fft::complex_transform<C>;
  static constexpr const char* bad_field = "output is 7; expected 8";
  static request make(const device& gpu, extent size) {
    return {.input = tensor(impulse<C>(gpu, n, 1, C(1)), {n}), .output = tensor(gpu.alloc<C>(size), {size})};
  }
  static request good(const device& gpu) { return make(gpu, n); }
  static request bad(const device& gpu) { return make(gpu, n - 1); }
  static void expect_right(const device& gpu, const request& r, const result<void>&) {
    expect_all_near(gpu, r.output, one_turn<T>(n));
  }
};

template <class T>
struct real_transform {
  using C = basic_complex<T>;
  using request = fft::real_transform<T>;
  static constexpr const char* bad_field = "output is 8; expected 5";
  static request make(const device& gpu, extent size) {
    return {.input = tensor(impulse<T>(gpu, n, 1, T(1)), {n}), .output = tensor(gpu.alloc<C>(size), {size})};
  }
  static request good(const device& gpu) { return make(gpu, n / 2 + 1); }
  static request bad(const device& gpu) { return make(gpu, n); }
  static void expect_right(const device& gpu, const request& r, const result<void>&) {
    expect_all_near(gpu, r.output, one_turn<T>(n / 2 + 1));
  }
};

template <class T>
struct real_inverse {
  using C = basic_complex<T>;
  using request = fft::real_inverse<T>;
  static constexpr const char* bad_field = "input is 5; expected 6";
  static request make(const device& gpu, extent size) {
    const auto spectrum = gpu.alloc<C>(n / 2 + 1);
    gpu.upload(spectrum, one_turn<T>(n / 2 + 1));
    return {.input = tensor(spectrum, {n / 2 + 1}),
            .output = tensor(gpu.alloc<T>(size), {size}),
            .normalization = fft::normalization::inverse};
  }
  static request good(const device& gpu) { return make(gpu, n); }
  static request bad(const device& gpu) { return make(gpu, n + 2); }
  static void expect_right(const device& gpu, const request& r, const result<void>&) {
    std::vector<T> want(n);
    want[1] = 1;
    expect_all_near(gpu, r.output, want);
  }
};

using fft_cases = testing::Types<c2c<float>, c2c<double>, r2c<float>, r2c<double>, c2r<float>, c2r<double>,
                                 prepare<complex64>, prepare<double>>;
static_assert(covers<fft_cases, fft::all_transforms>);
INSTANTIATE_TYPED_TEST_SUITE_P(fft, library_actor, fft_cases);

using view_cases = testing::Types<complex_transform<float>, complex_transform<double>, real_transform<float>,
                                  real_transform<double>, real_inverse<float>, real_inverse<double>>;
static_assert(covers<view_cases, fft::all_views>);
INSTANTIATE_TYPED_TEST_SUITE_P(fft_views, library_actor, view_cases);

// Transforms the rows of a matrix, and then its columns, each of which is a slice of a larger matrix.
TEST(fft_tensors, can_be_slices_and_permutations_of_other_tensors) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines({}));
  std::vector<complex64> ones(6 * 8, complex64(1, 0));
  const tensor<complex64> all(gpu.upload(ones), {6, 8}), part = all.slice(0, 1, 4).slice(1, 2, 4);
  fft::transform(gpu, part, part, {.dimensions = 1});
  fft::transform(gpu, part.permuted({1, 0}), part.permuted({1, 0}), {.dimensions = 1});
  const auto got = gpu.download(all.memory()).get();
  ASSERT_OK(got);
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t j = 0; j < 8; ++j) {
      const bool inside = i >= 1 && i < 5 && j >= 2 && j < 6;
      EXPECT_EQ((*got)[i * 8 + j], complex64(inside ? (i == 1 && j == 2 ? 16.f : 0.f) : 1.f, 0)) << i << ", " << j;
    }
}

TEST(fft_tensors, have_the_kind_of_transform_chosen_by_their_element_types) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines({}));
  const tensor<float> signal(gpu.upload(std::vector<float>{1, 0, 0, 0}), {4}), back(gpu.alloc<float>(4), {4});
  const tensor<complex64> spectrum(gpu.alloc<complex64>(3), {3});
  fft::transform(gpu, spectrum, signal);
  fft::transform(gpu, back, spectrum, {.normalization = fft::normalization::inverse});
  const auto bins = gpu.download(spectrum.memory()).get();
  ASSERT_OK(bins);
  EXPECT_EQ(*bins, std::vector<complex64>(3, complex64(1, 0)));
  const auto got = gpu.download(back.memory()).get();
  ASSERT_OK(got);
  EXPECT_EQ(*got, (std::vector<float>{1, 0, 0, 0}));
  EXPECT_FALSE(fft::transform(gpu, spectrum, signal, {}, {.timeout = time_span{}})) << "call options are honoured";
}

// Transforms that wait at the same time can share a call of the vendor's library, whether they are adjacent in memory
// or not.
TEST(fft_groups, transforms_that_share_a_call_each_get_their_own_result) {
  constexpr std::int64_t n = 8, count = 300;
  runtime rt;
  const device gpu = rt.open_device(with_test_engines({.restarts = 100}));
  std::vector<complex64> impulses(n * count);
  for (std::int64_t i = 0; i < count; ++i)
    impulses[static_cast<std::size_t>(i * n)] = complex64(static_cast<float>(8 * i), 0);
  const auto x = gpu.alloc<complex64>(n * count), y = gpu.alloc<complex64>(n * count);
  gpu.upload(x, impulses);
  for (const std::int64_t step : {1, 7}) {  // 7 and 300 have no common factor
    gpu.fill(y, complex64(-1, -1));
    for (std::int64_t i = 0; i < count; ++i)
      gpu.tell(fft::c2c<complex64>{.input = x.slice(i * n, n),
                                   .output = y.slice(i * step % count * n, n),
                                   .n = n,
                                   .normalization = fft::normalization::forward});
    const auto got = gpu.download(y).get();
    ASSERT_OK(got);
    for (std::int64_t i = 0; i < count; ++i)
      for (std::int64_t k = 0; k < n; ++k)
        ASSERT_EQ((*got)[static_cast<std::size_t>(i * step % count * n + k)], complex64(static_cast<float>(i), 0))
            << step << ", " << i << ", " << k;
  }
  // Transforms in place.
  for (std::int64_t i = 0; i < count; ++i)
    gpu.tell(
        fft::c2c<complex64>{.input = x.slice(i * n, n),
                            .output = x.slice(i * n, n),
                            .n = n,
                            .normalization = i < count / 2 ? fft::normalization::forward : fft::normalization::none});
  const auto over = gpu.download(x).get();
  ASSERT_OK(over);
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int64_t k = 0; k < n; ++k)
      ASSERT_EQ((*over)[static_cast<std::size_t>(i * n + k)],
                complex64(static_cast<float>(i < count / 2 ? i : 8 * i), 0))
          << i << ", " << k;
  const auto bins = gpu.alloc<complex64>(5 * count);
  const auto real = gpu.alloc<float>(n * count);
  gpu.fill(bins, complex64(1, 0));
  for (std::int64_t i = 0; i < count; ++i)
    gpu.tell(fft::c2r<float>{.input = bins.slice(i * 5, 5), .output = real.slice(i * n, n), .n = n});
  const auto back = gpu.download(real).get();
  ASSERT_OK(back);
  for (std::size_t i = 0; i < back->size(); ++i) ASSERT_EQ((*back)[i], i % n == 0 ? 8 : 0) << i;
  const auto inputs = gpu.download(bins).get();
  ASSERT_OK(inputs);
  for (const complex64 z : *inputs) ASSERT_EQ(z, complex64(1, 0)) << "consumes_input was not set";
}

}  // namespace
}  // namespace troupe::whole

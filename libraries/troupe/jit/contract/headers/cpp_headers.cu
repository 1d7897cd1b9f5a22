// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// What kernels find in the headers of C++. The same text is compiled as plain C++, whose standard library gives the expected results.
#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cfloat>
#include <climits>
#include <cmath>
#include <compare>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

static_assert(std::is_same_v<std::common_type_t<int, float>, float> && std::is_integral_v<const long> &&
              !std::is_integral_v<float> && std::is_pointer_v<int* const> && std::is_same_v<std::decay_t<int[3]>, int*>);
static_assert(std::is_same_v<std::make_unsigned_t<const int>, const unsigned> && std::is_base_of_v<std::true_type, std::is_union<int>> == false);
static_assert(std::is_invocable_r_v<double, decltype([](int) { return 1; }), char> && !std::is_invocable_v<int>);
static_assert(std::is_convertible_v<int, double> && !std::is_convertible_v<void*, int*> && std::extent_v<int[2][7], 1> == 7);
static_assert(std::conjunction_v<std::true_type, std::is_enum<std::byte>> && std::is_trivially_copyable_v<std::array<int, 3>>);
static_assert(std::integral<int> && std::floating_point<double> && std::regular<int> && std::totally_ordered<float> &&
              !std::copyable<decltype([x = std::array<int, 1>()] { return x; })&>);
static_assert(std::is_same_v<std::index_sequence_for<int, int, int>, std::index_sequence<0, 1, 2>>);
constexpr std::array<int, 6> some_numbers = {5, 3, 8, 1, 9, 2};
static_assert(*std::max_element(some_numbers.begin(), some_numbers.end()) == 9);

struct point {
  int x, y;
  constexpr auto operator<=>(const point&) const = default;
  int sum(int more) const { return x + y + more; }
};

template <class Put>
__device__ void values_of_algorithms(Put& put, const int* k) {
  int a[64], b[64];
  const auto mix = [&](int n) {
    for (int i = 0; i < n; ++i) a[i] = (k[7] * i * i + k[3] * i) % 41;
  };
  const auto sum = [&](const int* v, int n) {
    double s = 0;
    for (int i = 0; i < n; ++i) s = 1.5 * s + v[i];
    return s;
  };
  for (const int n : {1, 7, 24, 25, 63}) {
    mix(n);
    std::sort(a, a + n);
    put("sort", sum(a, n));
    put("binary_search", std::binary_search(a, a + n, 20));
    put("lower_bound", (double)(std::lower_bound(a, a + n, 20) - a));
    put("upper_bound", (double)(std::upper_bound(a, a + n, 20) - a));
    put("unique", (double)(std::unique(a, a + n) - a));
    mix(n);
    std::stable_sort(a, a + n, [](int x, int y) { return x % 5 < y % 5; });
    put("stable_sort", sum(a, n));
    mix(n);
    std::partial_sort(a, a + n / 2, a + n, std::greater<>());
    put("partial_sort", sum(a, n / 2));
    mix(n);
    std::nth_element(a, a + n / 3, a + n);
    put("nth_element", a[n / 3]);
    mix(n);
    std::make_heap(a, a + n);
    std::pop_heap(a, a + n);
    put("pop_heap", a[n - 1]);
    std::push_heap(a, a + n);
    std::sort_heap(a, a + n);
    put("sort_heap", sum(a, n));
  }
  mix(12);
  put("min_element", (double)(std::min_element(a, a + 12) - a));
  const auto both = std::minmax_element(a, a + 12);
  put("minmax_element", *both.first + 100 * *both.second);
  put("count_if", (double)std::count_if(a, a + 12, [](int x) { return x % 2 == 0; }));
  put("find", (double)(std::find(a, a + 12, a[5]) - a));
  put("find_if", (double)(std::find_if(a, a + 12, [](int x) { return x > 30; }) - a));
  put("all_of", std::all_of(a, a + 12, [](int x) { return x >= 0; }));
  put("equal", std::equal(a, a + 3, a));
  put("lexicographical_compare", std::lexicographical_compare(a, a + 3, a + 1, a + 4));
  std::copy(a, a + 12, b);
  std::reverse(b, b + 12);
  put("reverse", sum(b, 12));
  std::rotate(b, b + k[5], b + 12);
  put("rotate", sum(b, 12));
  std::transform(a, a + 12, b, b, [](int x, int y) { return x - 2 * y; });
  put("transform", sum(b, 12));
  put("remove_if", (double)(std::remove_if(b, b + 12, [](int x) { return x < 0; }) - b));
  std::fill_n(b, 4, k[9]);
  std::replace(b, b + 2, 9, 4);
  put("fill_n, replace", sum(b, 4));
  std::iota(b, b + 5, k[3]);
  std::next_permutation(b, b + 5);
  put("next_permutation", sum(b, 5));
  put("partition", (double)(std::partition(b, b + 5, [](int x) { return x % 2; }) - b));
  std::iota(b, b + 5, k[4]);
  std::swap(a[0], a[1]);
  std::swap_ranges(a, a + 3, b);
  put("swap_ranges", sum(a, 12) + sum(b, 5));
  put("accumulate", std::accumulate(a, a + 12, 0.5));
  put("reduce", std::reduce(a, a + 12));
  put("inner_product", std::inner_product(a, a + 12, b, 1.0));
  put("inclusive_scan", (std::inclusive_scan(a, a + 12, b), sum(b, 12)));
  put("exclusive_scan", (std::exclusive_scan(a, a + 12, b, 3), sum(b, 12)));
  put("adjacent_difference", (std::adjacent_difference(a, a + 12, b), sum(b, 12)));
  put("min", std::min(k[3], k[4]) + std::min({k[9], k[5], k[7]}));
  put("max", std::max(0.5f, k[1] / 3.0f) + std::max(k[3], k[4], [](int x, int y) { return x > y; }));
  put("clamp", std::clamp(k[9], k[2], k[5]));
  put("minmax", std::minmax(k[9], k[2]).first);
  put("gcd", std::gcd(k[12], -k[18]) + std::lcm(k[4], k[6]));
  put("midpoint", std::midpoint(k[3], k[8]) + std::midpoint(1.0f, k[2] * 1.0f));
}

template <class Put>
__device__ void values_of_classes(Put& put, const int* k) {
  std::array<int, 4> a{k[1], k[2], k[3], k[4]};
  put("array", a[2] + a.at(3) + std::get<1>(a) + a.front() * 10 + a.back() * 100 + (double)a.size());
  put("array's end", std::accumulate(a.rbegin(), a.rend(), 0.0, [](double s, int x) { return 2 * s + x; }));
  put("array ==", (a == std::array{1, 2, 3, 4}) + 2 * (a < std::array{1, 2, 4, 0}));
  put("a constant array", some_numbers[(size_t)k[4]]);
  auto [p, q] = std::make_pair(k[3], k[1] / 4.0f);
  put("pair", p + q);
  put("pair <", std::pair(1, k[3]) < std::pair(1, k[4]));
  auto t = std::make_tuple(k[1], k[2] / 4.0, (char)k[5]);
  put("tuple", std::get<0>(t) + std::get<double>(t) + std::get<2>(t));
  int first = 0;
  std::tie(first, std::ignore, std::ignore) = t;
  put("tie", first);
  put("apply", std::apply([](int x, double y, char z) { return x + y * z; }, t));
  put("tuple_cat", (double)std::tuple_size_v<decltype(std::tuple_cat(t, std::tuple(1, 2)))>);
  put("tuple <", (t < std::tuple(1, 0.5, 'z')) + 2 * (t == t));
  std::optional<int> o;
  put("optional", o.value_or(k[7]) + o.has_value());
  o = k[3];
  put("optional's value", *o + o.value() + (o == 3) + (o == std::nullopt));
  std::span<const int> s(k, 20);
  put("span", s[4] + s.subspan(3, 5).back() + (double)s.first(6).size());
  const point here{k[3], k[4]}, there{k[3], k[5]};
  put("<=>", (here < there) + 2 * (here == there) + 4 * (here >= there) + 8 * ((k[3] <=> k[4]) < 0));
  put("invoke", std::invoke(&point::sum, here, 5) + std::invoke(&point::x, &there) + std::invoke(std::plus<>(), 1, k[2]));
  int counted = 0;
  auto wrapped = std::ref(counted);
  wrapped.get() = k[6];
  put("ref", counted);
  put("not_fn", std::not_fn(std::less<int>())(k[1], k[2]));
  std::byte bits{(unsigned char)k[6]};
  put("byte", std::to_integer<int>((bits << 2) | std::byte{1}));
  put("exchange", std::exchange(counted, k[9]) + counted);
  put("next", *std::next(std::begin(a), k[2]) + (double)std::distance(a.begin(), a.end()));
  put("cmp_less", std::cmp_less(-k[1], (unsigned)k[1]));
}

template <class Put>
__device__ void values_of_numbers(Put& put, const int* k) {
  put("numeric_limits<float>", std::numeric_limits<float>::max() / k[2] + std::numeric_limits<float>::lowest() / k[4]);
  put("min, epsilon", std::numeric_limits<float>::min() * k[2] + std::numeric_limits<double>::epsilon());
  put("denorm_min", std::numeric_limits<double>::denorm_min() * k[2]);
  put("infinity", std::isinf(std::numeric_limits<float>::infinity() * k[1]));
  put("quiet_NaN", std::isnan(std::numeric_limits<double>::quiet_NaN() * k[1]));
  put("numeric_limits<int>", (double)std::numeric_limits<int>::max() + std::numeric_limits<int>::min() + k[1]);
  put("numeric_limits<int8_t>", std::numeric_limits<signed char>::min() + std::numeric_limits<unsigned short>::max() + k[1]);
  put("numeric_limits<uint64_t>", (double)(std::numeric_limits<unsigned long long>::max() / (unsigned)k[3]));
  put("digits", std::numeric_limits<float>::digits10 + std::numeric_limits<double>::max_digits10 +
                    std::numeric_limits<long>::digits + std::numeric_limits<float>::min_exponent10 + k[1]);
  put("std::sqrt", std::sqrt(k[9]) + std::sqrt(k[2] * 1.0f) + std::pow(k[2], 0.5f));
  put("std::abs", std::abs(-k[3]) + std::abs(-k[1] / 2.0f) + std::abs(-k[1] / 4.0) + (double)std::abs(-5L));
  put("std::lerp", std::lerp(k[1] * 1.0, 4.0, 0.25) + std::lerp(1.0f, k[3] * 1.0f, 1.0f));
  put("std::hypot", std::hypot(k[2] * 1.0, 3.0, 6.0));
  put("std::fmax", std::fmax(k[2], 1.5f) + std::floor(k[7] / 2.0f) + std::round(2.5 * k[1]) + std::exp(k[1]));
  put("numbers", std::numbers::pi * k[1] + std::numbers::sqrt2_v<float>);
  put("popcount", std::popcount((unsigned)k[7]) + std::countl_zero((unsigned char)k[7]) + std::countr_zero((unsigned)k[8]));
  put("bit_width", (double)(std::bit_width((unsigned)k[9]) + std::bit_ceil((unsigned)k[9]) + std::bit_floor((unsigned)k[9])));
  put("rotl", std::rotl((unsigned char)(k[9] * 16 + 1), k[3]) + std::rotr((unsigned short)k[9], k[1]));
  put("bit_cast", std::bit_cast<int>(k[3] * 1.0f));
  std::complex<float> z(k[3] * 1.0f, -k[4] * 1.0f);
  const std::complex<double> w(k[1], k[2]);
  const auto both = [&](const char* name, auto c) { put(name, c.real()), put(name, c.imag()); };
  both("complex *", z * std::complex<float>(w) + 2.0f);
  both("complex /", w / std::complex<double>(z));
  both("complex sqrt", std::sqrt(z) + std::sqrt(-z));
  both("complex exp", std::exp(w) - std::log(w));
  both("complex pow", std::pow(w, w) + std::pow(w, 2.0));
  both("complex sin", std::sin(w) + std::cosh(w) + std::tanh(w));
  both("polar", std::polar(k[2] * 1.0, 0.5) + std::conj(w));
  put("complex abs", std::abs(z) + std::arg(z) + std::norm(z) + (z == z) + (w != w));
}

#ifdef __CUDACC__
struct to_memory {
  double* out;
  int n;
  __device__ void operator()(const char*, double value) { out[n++] = value; }
};
__global__ void k(double* out, const int* k) {
  to_memory put{out + 1, 0};
  values_of_algorithms(put, k);
  values_of_classes(put, k);
  values_of_numbers(put, k);
  out[0] = put.n;
}
#endif

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstring>
#include <numbers>
#include <optional>
#include <tests/numerics/engine_suite.hpp>
#include <troupe/fft/placement.hpp>
#include <troupe/fft/views.hpp>
#include <troupe/request/checker.hpp>
#include <utility>
#include <vector>

/// For tests of transforms: memory with a layout, and the definition in long double.
namespace troupe::fft {

using namespace numerics;
using wide_real = long double;
struct wide_complex {
  wide_real re = 0, im = 0;
};

template <class T>
constexpr bool is_complex_element = !std::is_same_v<T, real_of<T>>;

template <class T>
wide_complex widened(const T& x) {
  if constexpr (is_complex_element<T>)
    return {static_cast<wide_real>(static_cast<double>(x.real)), static_cast<wide_real>(static_cast<double>(x.imag))};
  else
    return {static_cast<wide_real>(static_cast<double>(x)), 0};
}
template <class T>
T made(double re, double im) {
  using part = real_of<T>;
  if constexpr (is_complex_element<T>)
    return T(part(static_cast<float>(re)), part(static_cast<float>(im)));
  else
    return T(static_cast<float>(re));
}

/// Memory that is filled with NaN, except for the elements of a placement.
template <class T>
class side {
 public:
  static constexpr std::size_t margin = 32;
  explicit side(placement p)
      : places_(std::move(p)), memory_(static_cast<std::size_t>(places_.reach.value()) + 2 * margin) {
    std::memset(static_cast<void*>(memory_.data()), 0xff, memory_.size() * sizeof(T));
    before_ = memory_;
  }
  template <class F>
  void each(F&& f) const {
    std::int64_t n[3] = {1, 1, 1}, step[3] = {0, 0, 0};
    for (std::size_t i = 0; i < places_.n.rank(); ++i) {
      n[3 - places_.n.rank() + i] = places_.n[i].value();
      step[3 - places_.n.rank() + i] = places_.stride[i].value();
    }
    for (std::int64_t b = 0; b < places_.batch.value(); ++b)
      for (std::int64_t i = 0; i < n[0]; ++i)
        for (std::int64_t j = 0; j < n[1]; ++j)
          for (std::int64_t k = 0; k < n[2]; ++k)
            f(b, i, j, k,
              static_cast<std::size_t>(b * places_.distance.value() + i * step[0] + j * step[1] + k * step[2]));
  }
  void fill(random_source& random) {
    each([&](auto, auto, auto, auto, std::size_t at) { data()[at] = made<T>(random.value(), random.value()); });
    before_ = memory_;
  }
  T* data() { return memory_.data() + margin; }
  const placement& places() const { return places_; }
  template <access_mode M>
  operator operand<T, M>() {
    return {reinterpret_cast<std::uintptr_t>(data()), static_cast<std::uint64_t>(places_.reach.value())};
  }
  bool untouched() const { return std::memcmp(memory_.data(), before_.data(), memory_.size() * sizeof(T)) == 0; }
  /// Returns true if nothing but elements was written.
  bool untouched_outside() {
    std::vector<T> now = memory_;
    each([&](auto, auto, auto, auto, std::size_t at) { now[margin + at] = before_[margin + at]; });
    return std::memcmp(now.data(), before_.data(), now.size() * sizeof(T)) == 0;
  }
  std::vector<wide_complex> values() {
    std::vector<wide_complex> out;
    each([&](auto, auto, auto, auto, std::size_t at) { out.push_back(widened(data()[at])); });
    return out;
  }

 private:
  placement places_;
  std::vector<T> memory_, before_;
};

/// Computes transforms by the definition, one axis after the other. `values` contains the elements of all transforms
/// without gaps.
inline std::vector<wide_complex> transformed(std::vector<wide_complex> values, const shape& n, std::int64_t batch,
                                             bool forward) {
  std::int64_t inner = 1;
  for (std::size_t d = n.rank(); d-- > 0;) {
    const std::int64_t size = n[d].value();
    std::vector<wide_complex> root(static_cast<std::size_t>(size));
    for (std::int64_t k = 0; k < size; ++k) {
      const wide_real angle =
          2 * std::numbers::pi_v<wide_real> * static_cast<wide_real>(k) / static_cast<wide_real>(size);
      root[static_cast<std::size_t>(k)] = {std::cos(angle), forward ? -std::sin(angle) : std::sin(angle)};
    }
    const std::int64_t outer = n.count().value() / (size * inner) * batch;
    std::vector<wide_complex> out(values.size());
    for (std::int64_t o = 0; o < outer; ++o)
      for (std::int64_t i = 0; i < inner; ++i)
        for (std::int64_t k = 0; k < size; ++k) {
          wide_complex sum;
          for (std::int64_t j = 0; j < size; ++j) {
            const wide_complex& x = values[static_cast<std::size_t>((o * size + j) * inner + i)];
            const wide_complex& w = root[static_cast<std::size_t>(j * k % size)];
            sum.re += x.re * w.re - x.im * w.im;
            sum.im += x.re * w.im + x.im * w.re;
          }
          out[static_cast<std::size_t>((o * size + k) * inner + i)] = sum;
        }
    values = std::move(out);
    inner *= size;
  }
  return values;
}

inline wide_real factor_of(normalization how, bool forward, const shape& n) {
  const auto count = static_cast<wide_real>(n.count().value());
  if (how == normalization::orthonormal) return 1 / std::sqrt(count);
  const bool divides = how == normalization::inverse ? !forward : how == normalization::forward && forward;
  return divides ? 1 / count : 1;
}

/// Returns true if the error is small: it is proportional to the root of the sum of squares and to the number of
/// levels.
template <class T>
wide_real tolerance(const std::vector<wide_complex>& input, std::int64_t count, wide_real factor) {
  using part = real_of<T>;
  wide_real squares = 0;
  for (const wide_complex& x : input) squares += x.re * x.re + x.im * x.im;
  const auto batch = static_cast<wide_real>(input.size()) / static_cast<wide_real>(count);
  const auto levels = std::log2(static_cast<wide_real>(count)) + 2;
  return 4 * levels * static_cast<wide_real>(static_cast<double>(std::numeric_limits<part>::epsilon())) *
             std::sqrt(squares / batch) * factor * 2 +
         static_cast<wide_real>(static_cast<double>(std::numeric_limits<part>::min()));
}

/// Returns the half of a full transform that is stored.
inline std::vector<wide_complex> stored_half(const std::vector<wide_complex>& all, const shape& n) {
  std::vector<wide_complex> out;
  const auto last = static_cast<std::size_t>(n.last().value());
  for (std::size_t row = 0; row < all.size() / last; ++row)
    for (std::size_t k = 0; k <= last / 2; ++k) out.push_back(all[row * last + k]);
  return out;
}

class fft_numerics : public engine_suite {
 protected:
  template <class T>
  void expect_close(const std::vector<wide_complex>& got, const std::vector<wide_complex>& want, wide_real bound) {
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      const bool near = std::fabs(got[i].re - want[i].re) <= bound &&
                        (!is_complex_element<T> || std::fabs(got[i].im - want[i].im) <= bound);
      ASSERT_TRUE(near) << "element " << i << " is (" << got[i].re << ", " << got[i].im << "), not (" << want[i].re
                        << ", " << want[i].im << ") within " << bound;
    }
  }
  /// Compares what a transform of `before` has written with the definition.
  template <class In, class Out>
  void expect_transformed(side<Out>& output, const std::vector<wide_complex>& before, const shape& n,
                          std::int64_t batch, bool forward, normalization how) {
    const wide_real factor = factor_of(how, forward, n);
    auto want = transformed(before, n, batch, forward);
    if constexpr (!is_complex_element<In>) want = stored_half(want, n);
    for (auto& w : want) w = {w.re * factor, w.im * factor};
    expect_close<Out>(output.values(), want, tolerance<Out>(before, n.count().value(), factor));
    EXPECT_TRUE(output.untouched_outside());
  }
  /// Returns a random length, in a quarter of the cases a power of two.
  extent any_length(std::int64_t most) {
    return random.between(0, 3) == 0 ? random.one_of<std::int64_t>({2, 4, 8, 16, 32}) : random.between(1, most);
  }
  shape any_shape() {
    switch (random.between(1, 3)) {
      case 1:
        return any_length(200);
      case 2:
        return {any_length(20), any_length(20)};
      default:
        return {any_length(8), any_length(8), any_length(9)};
    }
  }
  /// Returns a random layout for these extents: without gaps, interleaved, or with possible gaps.
  layout any_layout(const shape& n, std::int64_t batch) {
    layout out;
    switch (random.between(0, 3)) {
      case 0:
        return out;
      case 1:  // interleaved
        out.stride = batch;
        out.distance = 1;
        return out;
      default:
        break;
    }
    out.stride = random.between(1, 3);
    if (n.rank() == 1)
      out.embed = n[0] + extent(random.between(0, 4));
    else if (n.rank() == 2)
      out.embed = {n[0] + extent(random.between(0, 2)), n[1] + extent(random.between(0, 3))};
    else
      out.embed = {n[0] + extent(random.between(0, 2)), n[1] + extent(random.between(0, 2)),
                   n[2] + extent(random.between(0, 2))};
    if (random.between(0, 1) == 0) out.distance = out.embed.count() * out.stride + extent(random.between(0, 5));
    return out;
  }
  normalization any_normalization() {
    return random.one_of<normalization>(
        {normalization::none, normalization::inverse, normalization::orthonormal, normalization::forward});
  }

  static constexpr int rounds = 150;
};

using complex_elements = ::testing::Types<complex64, complex128, complex_half, complex_bfloat16>;
using real_elements = ::testing::Types<float, double, half, bfloat16>;

}  // namespace troupe::fft

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Transforms, compared with their definition in long double.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numbers>
#include <optional>
#include <tests/numerics/engine_under_test.hpp>
#include <tests/numerics/random.hpp>
#include <troupe/fft/placement.hpp>
#include <troupe/fft/views.hpp>
#include <troupe/request/checker.hpp>
#include <troupe/request/describe.hpp>
#include <utility>
#include <vector>

namespace troupe::fft {
namespace {

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

/// Memory filled with NaN, in which a placement has elements.
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
  /// Returns true if only elements were written.
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

/// Computes the definition, one dimension after the other. `values` has the elements of all transforms densely.
std::vector<wide_complex> transformed(std::vector<wide_complex> values, const shape& n, std::int64_t batch,
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

wide_real factor_of(normalization how, bool forward, const shape& n) {
  const auto count = static_cast<wide_real>(n.count().value());
  if (how == normalization::orthonormal) return 1 / std::sqrt(count);
  const bool divides = how == normalization::inverse ? !forward : how == normalization::forward && forward;
  return divides ? 1 / count : 1;
}

/// The rounding error is proportional to the root of the sum of squares, and to the number of levels.
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

class fft_numerics : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { engine = new engine_under_test(engine_of_program()); }
  static void TearDownTestSuite() {
    delete engine;
    engine = nullptr;
  }
  template <class R>
  void run(const R& r) {
    const auto done = engine->run(r);
    ASSERT_TRUE(done) << done.error().to_string();
  }
  template <class R>
  static std::string story(const R& r) {
    return describe(r) + "; " + how_to_repeat();
  }
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
  /// Returns a random length, a power of two in a quarter of the cases.
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
  /// Returns a random layout for these extents: dense, interleaved, or possibly with gaps.
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

  static inline engine_under_test* engine = nullptr;
  random_source random;
  static constexpr int rounds = 150;
};

template <class T>
class complex_transforms : public fft_numerics {};
template <class T>
class real_transforms : public fft_numerics {};
struct element_names {
  template <class T>
  static std::string GetName(int) {
    return std::string(element_name<T>());
  }
};
using complex_elements = ::testing::Types<complex64, complex128, complex_half, complex_bfloat16>;
TYPED_TEST_SUITE(complex_transforms, complex_elements, element_names);
using real_elements = ::testing::Types<float, double, half, bfloat16>;
TYPED_TEST_SUITE(real_transforms, real_elements, element_names);

TYPED_TEST(complex_transforms, agree_with_the_definition_in_every_shape_and_layout) {
  using T = TypeParam;
  for (int i = 0; i < this->rounds && !this->HasFailure(); ++i) {
    const shape n = this->any_shape();
    const std::int64_t batch = this->random.between(1, 4);
    const bool forward = this->random.between(0, 1) == 0, over = this->random.between(0, 2) == 0;
    const layout from = this->any_layout(n, batch), to = over ? from : this->any_layout(n, batch);
    side<T> input(placement_of(from, n, batch)), apart(placement_of(to, n, batch));
    side<T>& output = over ? input : apart;
    input.fill(this->random);
    const auto before = input.values();
    const c2c<T> r{.input = input,
                   .output = output,
                   .n = n,
                   .direction = forward ? direction::forward : direction::inverse,
                   .batch = batch,
                   .normalization = this->any_normalization(),
                   .input_layout = from,
                   .output_layout = to};
    SCOPED_TRACE(this->story(r));
    this->run(r);
    const wide_real factor = factor_of(r.normalization, forward, n);
    auto want = transformed(before, n, batch, forward);
    for (auto& w : want) w = {w.re * factor, w.im * factor};
    this->template expect_close<T>(output.values(), want, tolerance<T>(before, n.count().value(), factor));
    EXPECT_TRUE(output.untouched_outside());
    if (!over) {
      EXPECT_TRUE(input.untouched());
    }
  }
}

// Returns the stored half of a full transform.
std::vector<wide_complex> stored_half(const std::vector<wide_complex>& all, const shape& n) {
  std::vector<wide_complex> out;
  const auto last = static_cast<std::size_t>(n.last().value());
  for (std::size_t row = 0; row < all.size() / last; ++row)
    for (std::size_t k = 0; k <= last / 2; ++k) out.push_back(all[row * last + k]);
  return out;
}

TYPED_TEST(real_transforms, forward_agree_with_the_definition_in_every_shape_and_layout) {
  using T = TypeParam;
  using C = basic_complex<T>;
  for (int i = 0; i < this->rounds && !this->HasFailure(); ++i) {
    const shape n = this->any_shape();
    const std::int64_t batch = this->random.between(1, 4);
    const layout from = this->any_layout(n, batch), to = this->any_layout(half_of(n), batch);
    side<T> input(placement_of(from, n, batch));
    side<C> output(placement_of(to, half_of(n), batch));
    input.fill(this->random);
    const auto before = input.values();
    const r2c<T> r{.input = input,
                   .output = output,
                   .n = n,
                   .batch = batch,
                   .normalization = this->any_normalization(),
                   .input_layout = from,
                   .output_layout = to};
    SCOPED_TRACE(this->story(r));
    this->run(r);
    const wide_real factor = factor_of(r.normalization, true, n);
    auto want = stored_half(transformed(before, n, batch, true), n);
    for (auto& w : want) w = {w.re * factor, w.im * factor};
    this->template expect_close<C>(output.values(), want, tolerance<C>(before, n.count().value(), factor));
    EXPECT_TRUE(output.untouched_outside());
    EXPECT_TRUE(input.untouched());
  }
}

TYPED_TEST(real_transforms, inverse_reproduce_the_signal_and_keep_their_input) {
  using T = TypeParam;
  using C = basic_complex<T>;
  for (int i = 0; i < this->rounds && !this->HasFailure(); ++i) {
    const shape n = this->any_shape();
    const std::int64_t batch = this->random.between(1, 4);
    const layout from = this->any_layout(half_of(n), batch), to = this->any_layout(n, batch);
    side<C> input(placement_of(from, half_of(n), batch));
    side<T> output(placement_of(to, n, batch));
    // The half spectrum of a real signal, rounded to the elements; and the inverse of the full spectrum, with its
    // conjugates.
    std::vector<wide_complex> signal;
    for (std::int64_t k = 0; k < n.count().value() * batch; ++k) signal.push_back({this->random.value(), 0});
    const auto spectrum = stored_half(transformed(signal, n, batch, true), n);
    std::size_t next = 0;
    input.each([&](auto, auto, auto, auto, std::size_t at) {
      input.data()[at] = made<C>(static_cast<double>(spectrum[next].re), static_cast<double>(spectrum[next].im));
      ++next;
    });
    std::vector<C> kept(input.data(), input.data() + input.places().reach.value());
    const c2r<T> r{.input = input,
                   .output = output,
                   .n = n,
                   .batch = batch,
                   .normalization = this->any_normalization(),
                   .input_layout = from,
                   .output_layout = to,
                   .consumes_input = this->random.between(0, 3) == 0};
    SCOPED_TRACE(this->story(r));
    this->run(r);
    const wide_real count = static_cast<wide_real>(n.count().value()), factor = factor_of(r.normalization, false, n);
    for (auto& s : signal) s.re *= count * factor;
    // The spectrum was also rounded: to elements, or to float by `made`.
    using rounded = std::conditional_t<std::is_same_v<T, double>, complex64, C>;
    this->template expect_close<T>(output.values(), signal,
                                   tolerance<rounded>(spectrum, n.count().value(), factor) * 2);
    EXPECT_TRUE(output.untouched_outside());
    if (!r.consumes_input) {
      EXPECT_EQ(std::memcmp(kept.data(), input.data(), kept.size() * sizeof(C)), 0);
    }
  }
}

// Rows with the padding of an in-place transform, but separate from their input: the padding does not change. cuFFT
// itself writes to it.
TYPED_TEST(real_transforms, with_separate_output_do_not_write_the_padding_of_rows) {
  using T = TypeParam;
  using C = basic_complex<T>;
  for (const shape& n : {shape(31), shape(10), shape(1), shape{14, 11}, shape{5, 10}, shape{1, 7}, shape{3, 1, 11},
                         shape{2, 1, 6}, shape{3, 4, 5}, shape{4, 2, 1}})
    for (const std::int64_t batch : {1, 3})
      for (const auto how : {normalization::none, normalization::inverse}) {
        const layout to{.embed = padded(n)};
        side<C> input(placement_of({}, half_of(n), batch));
        side<T> output(placement_of(to, n, batch));
        std::vector<wide_complex> signal;
        for (std::int64_t k = 0; k < n.count().value() * batch; ++k) signal.push_back({this->random.value(), 0});
        const auto spectrum = stored_half(transformed(signal, n, batch, true), n);
        input.each([&](auto, auto, auto, auto, std::size_t at) {
          input.data()[at] = made<C>(static_cast<double>(spectrum[at].re), static_cast<double>(spectrum[at].im));
        });
        output.fill(this->random);
        const c2r<T> r{
            .input = input, .output = output, .n = n, .batch = batch, .normalization = how, .output_layout = to};
        SCOPED_TRACE(this->story(r));
        this->run(r);
        const wide_real count = static_cast<wide_real>(n.count().value()), factor = factor_of(how, false, n);
        std::vector<wide_complex> want = signal;
        for (auto& s : want) s.re *= count * factor;
        using rounded = std::conditional_t<std::is_same_v<T, double>, complex64, C>;
        this->template expect_close<T>(output.values(), want,
                                       tolerance<rounded>(spectrum, n.count().value(), factor) * 2);
        ASSERT_TRUE(output.untouched_outside());
      }
}

TYPED_TEST(real_transforms, work_in_place_with_padded_rows) {
  using T = TypeParam;
  using C = basic_complex<T>;
  for (int i = 0; i < this->rounds && !this->HasFailure(); ++i) {
    const shape n = this->any_shape();
    const std::int64_t batch = this->random.between(1, 3);
    const layout rows{.embed = padded(n)};
    side<T> memory(placement_of({}, padded(n), batch));
    const placement real = placement_of(rows, n, batch);
    ASSERT_TRUE(in_place(real, placement_of({}, half_of(n), batch), 2));
    const std::uint64_t elements = static_cast<std::uint64_t>(memory.places().reach.value());
    memory.fill(this->random);
    std::vector<wide_complex> signal;
    side<T> seen(real);
    seen.each([&](auto, auto, auto, auto, std::size_t at) { signal.push_back(widened(memory.data()[at])); });
    const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
    const r2c<T> there{.input = in<T>(address, elements),
                       .output = out<C>(address, elements / 2),
                       .n = n,
                       .batch = batch,
                       .input_layout = rows};
    SCOPED_TRACE(this->story(there));
    this->run(there);
    std::vector<wide_complex> got;
    for (std::uint64_t k = 0; k < elements / 2; ++k) got.push_back(widened(reinterpret_cast<C*>(memory.data())[k]));
    const auto want = stored_half(transformed(signal, n, batch, true), n);
    const wide_real bound = tolerance<C>(signal, n.count().value(), 1);
    this->template expect_close<C>(got, want, bound);
    const c2r<T> back{.input = in<C>(address, elements / 2),
                      .output = out<T>(address, elements),
                      .n = n,
                      .batch = batch,
                      .normalization = normalization::inverse,
                      .output_layout = rows};
    this->run(back);
    got.clear();
    seen.each([&](auto, auto, auto, auto, std::size_t at) { got.push_back(widened(memory.data()[at])); });
    this->template expect_close<T>(got, signal, bound * 2 / std::sqrt(static_cast<wide_real>(n.count().value())));
  }
}

// Overlapping windows of a sliding signal.
TYPED_TEST(real_transforms, accept_overlapping_windows) {
  using T = TypeParam;
  using C = basic_complex<T>;
  const std::int64_t n = 64, hop = 16, windows = 9;
  const layout from{.distance = hop};
  side<T> input(placement_of(from, n, windows));
  side<C> output(placement_of({}, half_of(shape(n)), windows));
  input.fill(this->random);
  const r2c<T> r{.input = input, .output = output, .n = n, .batch = windows, .input_layout = from};
  this->run(r);
  const auto before = input.values();
  this->template expect_close<C>(output.values(), stored_half(transformed(before, n, windows, true), n),
                                 tolerance<C>(before, n, 1));
}

TYPED_TEST(complex_transforms, of_an_impulse_are_flat_at_any_length) {
  using T = TypeParam;
  // Primes, including some that need Bluestein's algorithm, powers, and large lengths.
  for (const std::int64_t n :
       {1, 2, 3, 5, 7, 11, 13, 17, 97, 127, 1009, 4096, 6561, 15625, 65537, 131072, 200003, 1 << 18}) {
    side<T> input(placement_of({}, n, 1)), output(placement_of({}, n, 1));
    std::fill(input.data(), input.data() + n, made<T>(0, 0));
    input.data()[0] = made<T>(1, 0);
    this->run(c2c<T>{.input = input, .output = output, .n = n});
    for (std::int64_t k = 0; k < n && !this->HasFailure(); ++k) {
      const wide_complex got = widened(output.data()[k]);
      EXPECT_NEAR(static_cast<double>(got.re), 1, 0.02) << k << " of " << n;
      EXPECT_NEAR(static_cast<double>(got.im), 0, 0.02) << k << " of " << n;
    }
  }
}

// A transform preserves the sum of squares, and its inverse reproduces the input: for lengths at which the definition
// is too slow.
TEST_F(fft_numerics, large_transforms_preserve_energy_and_can_be_inverted) {
  for (const shape& n : {shape(1 << 20), shape(1000003), shape(1024, 768), shape(96, 100, 128)}) {
    side<complex128> input(placement_of({}, n, 1)), output(placement_of({}, n, 1));
    input.fill(random);
    const auto before = input.values();
    run(c2c<complex128>{.input = input, .output = output, .n = n, .normalization = normalization::orthonormal});
    wide_real energy = 0, kept = 0;
    for (const auto& x : before) energy += x.re * x.re + x.im * x.im;
    for (const auto& x : output.values()) kept += x.re * x.re + x.im * x.im;
    EXPECT_NEAR(static_cast<double>(kept / energy), 1, 1e-13);
    run(c2c<complex128>{.input = output,
                        .output = output,
                        .n = n,
                        .direction = direction::inverse,
                        .normalization = normalization::orthonormal});
    expect_close<complex128>(output.values(), before, 1e-13L);
  }
}

// A batch in front, and gaps.
tensor_shape stored_as(const placement& p) {
  tensor_shape s{.rank = p.n.rank() + 1};
  s.extents[0] = p.batch.value();
  s.strides[0] = p.distance.value();
  for (std::size_t i = 0; i < p.n.rank(); ++i) {
    s.extents[i + 1] = p.n[i].value();
    s.strides[i + 1] = p.stride[i].value();
  }
  return s;
}
// The first two indexes of each transform in the other order.
tensor_shape turned(tensor_shape s) {
  std::swap(s.extents[1], s.extents[2]);
  std::swap(s.strides[1], s.strides[2]);
  return s;
}

TYPED_TEST(complex_transforms, of_tensors_agree_with_the_definition) {
  using T = TypeParam;
  for (int i = 0; i < this->rounds && !this->HasFailure(); ++i) {
    const shape n = this->any_shape();
    const std::int64_t batch = this->random.between(1, 4);
    const bool forward = this->random.between(0, 1) == 0, turns = n.rank() > 1 && this->random.between(0, 1) == 0;
    side<T> input(placement_of(this->any_layout(n, batch), n, batch)),
        output(placement_of(this->any_layout(n, batch), n, batch));
    input.fill(this->random);
    const auto before = input.values();
    tensor_shape from = stored_as(input.places()), to = stored_as(output.places());
    if (turns) from = turned(from), to = turned(to);
    const complex_transform<T> r{.input = in_tensor<T>(in<T>(input), from),
                                 .output = out_tensor<T>(out<T>(output), to),
                                 .dimensions = n.rank(),
                                 .direction = forward ? direction::forward : direction::inverse,
                                 .normalization = this->any_normalization()};
    SCOPED_TRACE(this->story(r));
    this->run(r);
    const wide_real factor = factor_of(r.normalization, forward, n);
    auto want = transformed(before, n, batch, forward);
    for (auto& w : want) w = {w.re * factor, w.im * factor};
    this->template expect_close<T>(output.values(), want, tolerance<T>(before, n.count().value(), factor));
    EXPECT_TRUE(output.untouched_outside());
    EXPECT_TRUE(input.untouched());
  }
}

TYPED_TEST(real_transforms, of_tensors_agree_with_the_definition_and_its_inverse) {
  using T = TypeParam;
  using C = basic_complex<T>;
  for (int i = 0; i < this->rounds && !this->HasFailure(); ++i) {
    const shape n = this->any_shape();
    const std::int64_t batch = this->random.between(1, 4);
    side<T> signal(placement_of(this->any_layout(n, batch), n, batch)),
        back(placement_of(this->any_layout(n, batch), n, batch));
    side<C> spectrum(placement_of(this->any_layout(half_of(n), batch), half_of(n), batch));
    signal.fill(this->random);
    const auto before = signal.values();
    const real_transform<T> forward{.input = in_tensor<T>(in<T>(signal), stored_as(signal.places())),
                                    .output = out_tensor<C>(out<C>(spectrum), stored_as(spectrum.places())),
                                    .dimensions = n.rank(),
                                    .normalization = normalization::forward};
    SCOPED_TRACE(this->story(forward));
    this->run(forward);
    const wide_real count = static_cast<wide_real>(n.count().value()), factor = 1 / count;
    auto want = stored_half(transformed(before, n, batch, true), n);
    for (auto& w : want) w = {w.re * factor, w.im * factor};
    this->template expect_close<C>(spectrum.values(), want, tolerance<C>(before, n.count().value(), factor));
    EXPECT_TRUE(spectrum.untouched_outside());
    EXPECT_TRUE(signal.untouched());
    this->run(real_inverse<T>{.input = in_tensor<C>(in<C>(spectrum), stored_as(spectrum.places())),
                              .output = out_tensor<T>(out<T>(back), stored_as(back.places())),
                              .dimensions = n.rank(),
                              .consumes_input = this->random.between(0, 1) == 0});
    this->template expect_close<T>(back.values(), before,
                                   2 * tolerance<T>(before, n.count().value(), 1 / std::sqrt(count)));
    EXPECT_TRUE(back.untouched_outside());
  }
}

}  // namespace
}  // namespace troupe::fft

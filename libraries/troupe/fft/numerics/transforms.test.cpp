// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests of transforms, compared with their definition in long double.
#include <troupe/fft/testing/numerics.hpp>

namespace troupe::fft {
namespace {

template <class T>
class complex_transforms : public fft_numerics {};
template <class T>
class real_transforms : public fft_numerics {};
TYPED_TEST_SUITE(complex_transforms, complex_elements, element_names);
TYPED_TEST_SUITE(real_transforms, real_elements, element_names);

TYPED_TEST(complex_transforms, agree_with_the_definition_in_random_shapes_and_layouts) {
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
    this->template expect_transformed<T>(output, before, n, batch, forward, r.normalization);
    if (!over) {
      EXPECT_TRUE(input.untouched());
    }
  }
}

TYPED_TEST(real_transforms, forward_agree_with_the_definition_in_random_shapes_and_layouts) {
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
    this->template expect_transformed<T>(output, before, n, batch, true, r.normalization);
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
    // Computes the stored half of the spectrum of a real signal, rounded to the element type; and the expected inverse,
    // from the full spectrum with its conjugates.
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
    // The spectrum was rounded, too: to the element type, or to float by `made`.
    using rounded = std::conditional_t<std::is_same_v<T, double>, complex64, C>;
    this->template expect_close<T>(output.values(), signal,
                                   tolerance<rounded>(spectrum, n.count().value(), factor) * 2);
    EXPECT_TRUE(output.untouched_outside());
    if (!r.consumes_input) {
      EXPECT_EQ(std::memcmp(kept.data(), input.data(), kept.size() * sizeof(C)), 0);
    }
  }
}

// Rows have the padding of an in-place transform, but the output is separate from the input, so the padding must not
// change. cuFFT itself would write to it.
TYPED_TEST(real_transforms, separate_output_leaves_the_padding_of_rows_unchanged) {
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
    side<T> layout(real);
    layout.each([&](auto, auto, auto, auto, std::size_t at) { signal.push_back(widened(memory.data()[at])); });
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
    layout.each([&](auto, auto, auto, auto, std::size_t at) { got.push_back(widened(memory.data()[at])); });
    this->template expect_close<T>(got, signal, bound * 2 / std::sqrt(static_cast<wide_real>(n.count().value())));
  }
}

// The transforms are of overlapping windows of one signal.
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

TYPED_TEST(complex_transforms, the_transform_of_an_impulse_is_flat_at_any_length) {
  using T = TypeParam;
  // Lengths: primes, some of which need Bluestein's algorithm, powers, and large numbers.
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

// Checks lengths for which the definition takes too long: a transform preserves the sum of squares, and its inverse
// reproduces the input.
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

}  // namespace
}  // namespace troupe::fft

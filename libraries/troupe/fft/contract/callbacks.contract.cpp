// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <complex>
#include <numbers>
#include <troupe/fft/fft.hpp>
#include <troupe/graph/graph.hpp>

#include <tests/contract/contract.hpp>
#include <tests/contract/kernels/jit_source.hpp>

namespace troupe::whole {
namespace {

// Has the signal 0, 1, 2 ... and memory for the bins of its transform.
class fft_callbacks : public testing::Test {
 protected:
  static constexpr std::size_t size = 16;
  static device_options options() { return with_test_engines({.restarts = 100}); }
  std::vector<complex64> definition(const std::vector<double>& x) {
    std::vector<complex64> out;
    for (std::size_t k = 0; k < size; ++k) {
      std::complex<double> sum;
      for (std::size_t j = 0; j < size; ++j)
        sum += x[j] * std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(j * k) / static_cast<double>(size));
      out.emplace_back(static_cast<float>(sum.real()), static_cast<float>(sum.imag()));
    }
    return out;
  }
  buffer<complex64> signal(const device& gpu) {
    std::vector<complex64> x;
    for (std::size_t i = 0; i < size; ++i) x.emplace_back(static_cast<float>(i), 0.0f);
    auto b = gpu.alloc<complex64>(size);
    gpu.upload(b, x);
    return b;
  }
  const text source = R"(
    __device__ float2 weighted(const float2* input, unsigned long long at, const void* data) {
      const float w = static_cast<const float*>(data)[at];
      return make_float2(input[at].x * w, input[at].y * w);
    }
    __device__ void scaled(float2* output, unsigned long long at, float2 value, void* data) {
      const float f = *static_cast<const float*>(data);
      output[at] = make_float2(value.x * f, value.y * f);
    }
    __device__ void too_few(float2* output, unsigned long long at, float2 value) { output[at] = value; }
  )";
};

TEST_F(fft_callbacks, load_and_store_the_elements_of_a_transform) {
  runtime rt;
  const device gpu = rt.open_device(options());
  const buffer<complex64> x = signal(gpu), y = gpu.alloc<complex64>(size);
  buffer<float> weights = uploaded(gpu, counting(size, 1)), factor = uploaded(gpu, std::vector<float>{3.0f});
  std::vector<double> plain, weighted;
  for (std::size_t i = 0; i < size; ++i) {
    plain.push_back(static_cast<double>(i));
    weighted.push_back(static_cast<double>(i) * static_cast<double>(i + 1));
  }
  const auto expect = [&](std::vector<complex64> want, float by) {
    for (auto& w : want) w = {w.real * by, w.imag * by};
    const auto got = gpu.download(y).get();
    ASSERT_OK(got);
    for (std::size_t k = 0; k < size; ++k) {
      EXPECT_NEAR((*got)[k].real, want[k].real, 2e-2) << k;
      EXPECT_NEAR((*got)[k].imag, want[k].imag, 2e-2) << k;
    }
  };
  const auto both =
      fft::compile_callbacks<complex64, complex64>(gpu, {.source = source}, {.load = "weighted", .store = "scaled"});
  const auto first = fft::compile_callbacks<complex64, complex64>(gpu, {.source = source}, {.load = "weighted"});
  const auto last = fft::compile_callbacks<complex64, complex64>(gpu, {.source = source}, {.store = "scaled"});
  ASSERT_OK(both.ready().get());
  fft::c2c<complex64> r{.input = x, .output = y, .n = size};
  EXPECT_OK(gpu.ask(r).get());
  expect(definition(plain), 1);
  r.callbacks = both;
  r.load_data = weights.as<std::byte>();
  r.store_data = factor.as<std::byte>();
  EXPECT_OK(gpu.ask(r).get());
  expect(definition(weighted), 3);
  r.callbacks = first;
  EXPECT_OK(gpu.ask(r).get());
  expect(definition(weighted), 1);
  r.callbacks = last;
  EXPECT_OK(gpu.ask(r).get());
  expect(definition(plain), 3);
  // Use other data with the same functions.
  gpu.upload(factor, std::vector<float>{5.0f});
  EXPECT_OK(gpu.ask(r).get());
  expect(definition(plain), 5);
  // The next worker must compile the functions again.
  kill_and_wait(gpu);
  gpu.upload(x, gpu.download(signal(gpu)).get().value());
  gpu.upload(y, std::vector<complex64>(size));
  gpu.upload(weights, counting(size, 1));
  gpu.upload(factor, std::vector<float>{2.0f});
  r.callbacks = both;
  EXPECT_OK(gpu.ask(r).get());
  expect(definition(weighted), 2);
}

// On a GPU, a long transform consists of several kernels, of which one loads and another stores. The transform of an
// impulse is 1 everywhere.
TEST_F(fft_callbacks, work_in_transforms_that_consist_of_several_kernels) {
  runtime rt;
  const device gpu = rt.open_device(options());
  const auto both =
      fft::compile_callbacks<complex64, complex64>(gpu, {.source = source}, {.load = "weighted", .store = "scaled"});
  constexpr std::size_t n = 1 << 18;
  std::vector<complex64> impulse(n);
  impulse[0] = complex64(1, 0);
  const auto x = gpu.alloc<complex64>(n), y = gpu.alloc<complex64>(n);
  gpu.upload(x, impulse);
  const auto weights = uploaded(gpu, std::vector<float>(n, 2.0f)), factor = uploaded(gpu, std::vector<float>{3.0f});
  gpu.tell(fft::c2c<complex64>{.input = x,
                               .output = y,
                               .n = n,
                               .callbacks = both,
                               .load_data = weights.as<std::byte>(),
                               .store_data = factor.as<std::byte>()});
  const auto got = gpu.download(y).get();
  ASSERT_OK(got);
  for (std::size_t k = 0; k < n; ++k) ASSERT_EQ((*got)[k], complex64(6, 0)) << k;
}

TEST_F(fft_callbacks, receive_the_positions_of_elements_in_strided_batches) {
  runtime rt;
  const device gpu = rt.open_device(options());
  // Two interleaved channels. The callback writes each bin's position, which shows the layout.
  const text place =
      "__device__ void place(float2* output, unsigned long long at, float2, void*) { output[at] = make_float2(at, 1); "
      "}";
  const auto store = fft::compile_callbacks<float, complex64>(gpu, {.source = place}, {.store = "place"});
  const auto x = uploaded(gpu, counting(16));
  const auto y = gpu.alloc<complex64>(10);
  gpu.tell(fft::r2c<float>{.input = x,
                           .output = y,
                           .n = 8,
                           .batch = 2,
                           .input_layout = {.stride = 2, .distance = 1},
                           .output_layout = {.stride = 2, .distance = 1},
                           .callbacks = store});
  const auto got = gpu.download(y).get();
  ASSERT_OK(got);
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ((*got)[i].real, static_cast<float>(i));
    EXPECT_EQ((*got)[i].imag, 1);
  }
}

// Rows have the padding of an in-place transform, but the output is separate from the input: the callback is not called
// for the padding.
TEST_F(fft_callbacks, store_nothing_in_the_padding_of_rows) {
  runtime rt;
  const device gpu = rt.open_device(options());
  const text one = "__device__ void one(float* output, unsigned long long at, float, void*) { output[at] = 1; }";
  const auto store = fft::compile_callbacks<complex64, float>(gpu, {.source = one}, {.store = "one"});
  for (const fft::shape& n : {fft::shape{6, 11}, fft::shape{4, 10}, fft::shape(31)}) {
    const std::int64_t batch = 2, row = fft::padded(n).last().value(), all = fft::padded(n).count().value() * batch;
    const auto x = gpu.alloc<complex64>(all / 2);
    const auto y = gpu.alloc<float>(all);
    gpu.fill(y, -7.0f);
    gpu.tell(fft::c2r<float>{.input = x,
                             .output = y,
                             .n = n,
                             .batch = batch,
                             .output_layout = {.embed = fft::padded(n)},
                             .callbacks = store});
    const auto got = gpu.download(y).get();
    ASSERT_OK(got);
    for (std::int64_t i = 0; i < all; ++i)
      ASSERT_EQ((*got)[static_cast<std::size_t>(i)], i % row < n.last().value() ? 1.0f : -7.0f)
          << i << " of rows of " << row;
  }
}

TEST_F(fft_callbacks, invalid_callbacks_are_refused_with_the_reason) {
  runtime rt;
  const device gpu = rt.open_device(options());
  const auto x = signal(gpu), y = gpu.alloc<complex64>(size);
  const auto ask = [&](const fft::callbacks<complex64, complex64>& c) {
    return error_of(
        gpu.ask(fft::c2c<complex64>{.input = x, .output = gpu.alloc<complex64>(size), .n = size, .callbacks = c}));
  };
  const auto compiled = [&](jit::recipe r, fft::callback_names names) {
    return fft::compile_callbacks<complex64, complex64>(gpu, std::move(r), std::move(names));
  };
  const auto few = compiled({.source = source}, {.store = "too_few"});
  EXPECT_TRUE(is_error(error_of(few.ready()), reaction::caller_bug, {"the functions around the callbacks"}));
  EXPECT_TRUE(is_error(ask(few), reaction::caller_bug, {"the functions around the callbacks"}));
  EXPECT_TRUE(
      is_error(ask(compiled({.source = "__device__ float2 f("}, {.load = "f"})), reaction::caller_bug, {"error"}));
  EXPECT_TRUE(is_error(ask(compiled({.source = source}, {})), reaction::caller_bug,
                       {"fft.compile_callbacks: load and store are empty; expected"}));
  EXPECT_TRUE(is_error(ask(compiled({.source = source}, {.load = "a; b"})), reaction::caller_bug,
                       {"load is \"a; b\"; expected the name of a function"}));
  EXPECT_TRUE(is_error(ask(compiled({.source = source, .kernels = {"k"}}, {.load = "weighted"})), reaction::caller_bug,
                       {"kernels is given; expected a recipe without it"}));
  EXPECT_TRUE(is_error(error_of(gpu.ask(fft::c2c<complex64>{.input = x,
                                                            .output = gpu.alloc<complex64>(size),
                                                            .n = size,
                                                            .normalization = fft::normalization::inverse,
                                                            .callbacks = few})),
                       reaction::caller_bug, {"normalization is inverse with a store callback; expected none"}));
  const auto gone = compiled({.source = source}, {.load = "weighted"});
  EXPECT_OK(gone.unload().get());
  EXPECT_TRUE(is_error(ask(gone), reaction::caller_bug, {"callbacks belongs to", "which was unloaded"}));
  EXPECT_OK(gpu.ask(fft::c2c<complex64>{.input = x, .output = y, .n = size}).get()) << "the device still works";
}

// A graph with a forward and an inverse transform reproduces its input.
TEST_F(fft_callbacks, are_optional_for_transforms_in_graphs) {
  runtime rt;
  const device gpu = rt.open_device(options());
  const auto x = signal(gpu), y = gpu.alloc<complex64>(size), z = gpu.alloc<complex64>(size);
  graph::recorder body(gpu);
  body.add(fft::c2c<complex64>{.input = x, .output = y, .n = size});
  body.add(fft::c2c<complex64>{.input = y,
                               .output = z,
                               .n = size,
                               .direction = fft::direction::inverse,
                               .normalization = fft::normalization::inverse});
  const auto recorded = body.finish();
  for (int round = 0; round < 3; ++round) {
    std::vector<complex64> data;
    for (std::size_t i = 0; i < size; ++i) data.emplace_back(static_cast<float>(i) + static_cast<float>(round), 1.0f);
    gpu.upload(x, data);
    ASSERT_OK(gpu.ask(graph::launch{.graph = recorded}).get());
    const auto got = gpu.download(z).get();
    ASSERT_OK(got);
    for (std::size_t i = 0; i < size; ++i) EXPECT_NEAR((*got)[i].real, data[i].real, 1e-4) << i;
  }
}

}  // namespace
}  // namespace troupe::whole

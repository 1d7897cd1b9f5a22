// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <troupe/fft/fft.hpp>
#include <troupe/troupe.hpp>
#include <vector>

using namespace troupe;

// Multiplies two spectra while the inverse transform reads the first: needs no kernel of its own, and no copy.
constexpr const char* product = R"(
__device__ float2 multiplied(const float2* input, unsigned long long at, const void* data) {
  const float2 x = input[at], y = static_cast<const float2*>(data)[at];
  return make_float2(x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x);
}
)";

// Returns the circular convolution of signal and filter, both of n elements: y[i] = sum over j of x[j] * h[(i - j) mod
// n]
result<std::vector<float>> convolved(const device& gpu, const std::vector<float>& signal,
                                     const std::vector<float>& filter) {
  const extent n = signal.size();
  const auto x = gpu.alloc<float>(n), h = gpu.alloc<float>(n);
  const auto fx = gpu.alloc<complex64>(fft::half_of(n)), fh = gpu.alloc<complex64>(fft::half_of(n));
  gpu.upload(x, signal);
  gpu.upload(h, filter);
  const auto multiply = fft::compile_callbacks<complex64, float>(gpu, {.source = product}, {.load = "multiplied"});

  gpu.tell(fft::r2c<float>{.input = x, .output = fx, .n = n});
  gpu.tell(fft::r2c<float>{.input = h, .output = fh, .n = n});
  gpu.tell(fft::c2r<float>{.input = fx,
                           .output = x,
                           .n = n,
                           .normalization = fft::normalization::inverse,
                           .callbacks = multiply,
                           .load_data = fh.as<std::byte>()});
  return gpu.download(x).get();  // also returns any earlier error
}

int main() {
  runtime rt;
  const device gpu = rt.open_device();
  constexpr std::size_t n = 1000;
  std::vector<float> signal(n), filter(n);
  for (std::size_t i = 0; i < n; ++i) signal[i] = i % 100 < 50 ? 1.0f : -1.0f;
  for (std::size_t i = 0; i < 10; ++i) filter[i] = 0.1f;  // the mean of ten

  const auto smooth = convolved(gpu, signal, filter);
  if (!smooth) {
    std::printf("%s\n", smooth.error().to_string().c_str());
    return 1;
  }
  float worst = 0;
  for (std::size_t i = 0; i < n; ++i) {
    float want = 0;
    for (std::size_t j = 0; j < 10; ++j) want += 0.1f * signal[(i + n - j) % n];
    worst = std::max(worst, std::fabs((*smooth)[i] - want));
  }
  std::printf("%zu elements convolved, largest error %g\n", n, static_cast<double>(worst));
  return worst < 1e-4f ? 0 : 1;
}

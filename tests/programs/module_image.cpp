// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// An image that jit has compiled is loaded on another device and launched by name, and its globals are read and
// written.
#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <troupe/jit/jit.hpp>
#include <troupe/module/module.hpp>
#include <troupe/troupe.hpp>
#include <vector>

using namespace troupe;

constexpr const char* source = R"(
__constant__ float weights[4];
__device__ unsigned long long launches;

namespace filters {
template <int Reach>
__global__ void smooth(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0) atomicAdd(&launches, 1ull);
  if (i >= n) return;
  float sum = 0;
  for (int k = 0; k < Reach; ++k) sum += i + k < n ? weights[k] * x[i + k] : 0.0f;
  y[i] = sum;
}
}  // namespace filters
)";

constexpr int n = 500;

task<result<int>> all(device builder, device gpu) {
  int wrong = 0;
  const std::vector<std::byte> bytes = co_await jit::compile(builder, {.source = source,
                                                                       .name = "filters.cu",
                                                                       .kernels = {"filters::smooth<4>"},
                                                                       .globals = {"weights", "launches"}})
                                           .image();
  co_await module::load(gpu, bytes, {.name = "filters, as the builder left them"}).ready();  // options in place

  const module::image image = module::load(gpu, bytes, {.name = "filters"});
  co_await image.ready();
  const std::array<float, 4> factors{1, 2, 3, 4};
  std::vector<float> numbers(n);
  for (int i = 0; i < n; ++i) numbers[static_cast<std::size_t>(i)] = static_cast<float>(i % 10);
  auto w = gpu.alloc<float>(4), x = gpu.alloc<float>(n), y = gpu.alloc<float>(n);
  auto count = gpu.alloc<std::uint64_t>(1);
  auto last = gpu.alloc<float>(1);
  co_await gpu.upload(w, factors);
  co_await gpu.upload(x, numbers);
  co_await gpu.ask(module::write_global{.global = image.global("weights"), .source = w.as<std::byte>()});
  for (int i = 0; i < 3; ++i)
    co_await gpu.ask(module::launch{.kernel = image.kernel("filters::smooth<4>"),
                                    .grid = kernel::blocks_for(n, 64),
                                    .block = 64,
                                    .arguments = {x, out(y), n},
                                    .writes_globals = true});
  co_await gpu.ask(module::read_global{.global = image.global("launches"), .target = count.as<std::byte>()});
  co_await gpu.ask(module::read_global{
      .global = image.global("weights"), .target = last.as<std::byte>(), .offset_bytes = 3 * sizeof(float)});
  wrong += (co_await gpu.download(count)).front() != 3;
  wrong += (co_await gpu.download(last)).front() != 4;
  const std::vector<float> smoothed = co_await gpu.download(y);
  for (std::size_t i = 0; i < n; ++i) {
    float sum = 0;
    for (std::size_t k = 0; k < 4 && i + k < n; ++k) sum += factors[k] * numbers[i + k];
    wrong += smoothed[i] != sum;
  }
  const auto unknown = co_await as_result(
      gpu.ask(module::launch{.kernel = image.kernel("smoth"), .grid = 1, .block = 64, .arguments = {x, out(y), n}}));
  wrong += unknown || unknown.error().text().find("smoth") == std::string::npos;
  const auto cut = co_await as_result(module::load(gpu, std::span(bytes).first(bytes.size() / 2)).ready());
  wrong += cut || cut.error().reaction() != reaction::caller_bug;
  co_return wrong;
}

int main() {
  runtime rt;
  const auto wrong = sync_wait(all(rt.open_device(), rt.open_device()));
  if (!wrong) return std::fprintf(stderr, "module_image: %s\n", wrong.error().to_string().c_str()), 1;
  std::printf("%d wrong\n", *wrong);
  return *wrong == 0 ? 0 : 1;
}

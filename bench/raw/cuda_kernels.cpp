// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bench/raw/cuda_kernels.hpp>
#include <bench/raw/cuda_libraries.hpp>
#include <troupe/cuda/embedded.hpp>
#include <vector>

TROUPE_EMBEDDED(troupe_bench_kernels, TROUPE_KERNELS);

namespace troupe::bench {
namespace {

constexpr unsigned block = 256;
constexpr int numbers = 8;  // elements that a thread loads at a time

template <class... A>
void launch(CUfunction f, unsigned blocks, const stream& on, A... arguments) {
  void* all[] = {&arguments...};
  must(::cuLaunchKernel(f, blocks, 1, 1, block, 1, 1, 0, on.get(), all, nullptr), "cuLaunchKernel");
}

class reads final : public raw_reads {
 public:
  // Fills the memory with values that differ, because some GPUs compress equal values.
  reads(std::size_t bytes, int count) : bytes_(bytes), stream_(make_stream()) {
    std::vector<std::uint32_t> one(std::size_t{1} << 20);
    std::uint32_t x = 1;
    for (std::uint32_t& n : one) n = x = x * 1664525u + 1013904223u;
    memory_ = make_repeated(std::as_bytes(std::span(one)), bytes * static_cast<std::size_t>(count));
  }
  void read(int which) override {
    kernels_.read(memory_.get() + bytes_ * static_cast<std::size_t>(which), bytes_, stream_);
  }
  void synchronize() override { wait_for(stream_); }

 private:
  std::size_t bytes_;
  device_memory memory_;
  stream stream_;
  plain_kernels kernels_;
};

}  // namespace

plain_kernels::plain_kernels()
    : module_(load(troupe_bench_kernels)),
      read_(function("read_all")),
      gate_(function("gate")),
      sum_rows_(function("sum_rows")),
      quantize_(function("quantize")),
      unused_(make_memory(sizeof(unsigned))) {
  CUdevice device = 0;
  int multiprocessors = 0;
  must(::cuCtxGetDevice(&device), "cuCtxGetDevice");
  must(::cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device),
       "cuDeviceGetAttribute");
  constexpr int threads_of_one = 2048;
  most_blocks_ = std::int64_t{multiprocessors} * threads_of_one / block;
}

CUfunction plain_kernels::function(const char* name) const {
  CUfunction f = nullptr;
  must(::cuModuleGetFunction(&f, module_.get(), name), "cuModuleGetFunction");
  return f;
}
unsigned plain_kernels::blocks_for(std::int64_t threads) const {
  return static_cast<unsigned>(std::clamp<std::int64_t>((threads + block - 1) / block, 1, most_blocks_));
}

void plain_kernels::read(CUdeviceptr from, std::size_t bytes, const stream& on) const {
  const auto count = static_cast<std::int64_t>(bytes / 16);
  launch(read_, blocks_for(count), on, from, count, 0xdeadbeefu, unused_.get());
}
void plain_kernels::gate(CUdeviceptr product, CUdeviceptr d, std::int64_t rows, std::int64_t n,
                         const stream& on) const {
  launch(gate_, blocks_for(rows * n / numbers), on, product, d, rows, n);
}
void plain_kernels::sum_rows(CUdeviceptr d, CUdeviceptr sums, std::int64_t rows, std::int64_t n,
                             const stream& on) const {
  launch(sum_rows_, static_cast<unsigned>(rows), on, d, sums, n);
}
void plain_kernels::quantize(CUdeviceptr x, CUdeviceptr d, std::int64_t count, float scale, CUdeviceptr largest,
                             const stream& on) const {
  must(::cuMemsetD32Async(largest, 0, 1, on.get()), "cuMemsetD32Async");
  launch(quantize_, blocks_for(count / numbers), on, x, d, count, scale, largest);
}

std::unique_ptr<raw_reads> make_reads(std::size_t bytes, int count) { return std::make_unique<reads>(bytes, count); }

}  // namespace troupe::bench

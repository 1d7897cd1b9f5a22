// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// A kernel written for a GPU, run on the processor, compared with the same loop written for the processor and compiled
// by g++ -O3 during the measure.
#include <dlfcn.h>
#include <bench/device_under_test.hpp>
#include <bench/host/jit_kernels.hpp>
#include <bench/measures.hpp>
#include <bench/rounds.hpp>
#include <bench/system/placement.hpp>
#include <bench/system/run_program.hpp>
#include <bench/system/temporary_folder.hpp>
#include <cmath>
#include <fstream>
#include <optional>
#include <troupe/base/clock.hpp>
#include <troupe/base/result.hpp>

namespace troupe::bench {
namespace {

constexpr int n = 10'000'000, times = 5;
constexpr float factor = 1e-3f;

constexpr const char* kernel_source = R"(
__global__ void saxpy(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
)";
constexpr const char* loop_source = R"(
extern "C" void saxpy(int n, float a, const float* x, float* y) {
  for (int i = 0; i < n; ++i) y[i] = a * x[i] + y[i];
}
)";

using loop_fn = void(int n, float a, const float* x, float* y);

// Compiles and loads the loop. It is never unloaded.
loop_fn* compiled_loop() {
  const temporary_folder folder;
  const std::string source = folder.path() / "saxpy.cpp", library = folder.path() / "saxpy.so";
  std::ofstream(source) << loop_source;
  run_program({"g++", "-O3", "-march=native", "-shared", "-fPIC", source, "-o", library});
  void* const loaded = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  auto* const loop = loaded != nullptr ? reinterpret_cast<loop_fn*>(::dlsym(loaded, "saxpy")) : nullptr;
  if (loop == nullptr)
    throw bad_result(error(reaction::unsupported, "bench", "cannot load the library that g++ compiled"));
  return loop;
}

double gigabytes_per_second(std::int64_t since) { return 12. * n * times / static_cast<double>(now_ns() - since); }

/// A kernel on a device, with its data.
class kernel_under_test {
 public:
  explicit kernel_under_test(const settings& s, const std::vector<float>& from, const std::vector<float>& to)
      : gpu_(s, {.libraries = {"jit"}}),
        program_(jit::compile(*gpu_, {.source = kernel_source, .name = "saxpy.cu"})),
        x_(uploaded(*gpu_, from)),
        y_(uploaded(*gpu_, to)),
        request_{.kernel = program_.kernel("saxpy"),
                 .grid = kernel::blocks_for(n, 256),
                 .block = 256,
                 .arguments = {n, factor, x_, inout(y_)}} {
    program_.ready().get().value();
    gpu_->sync().get().value();
  }
  double rate() const {
    const std::int64_t start = now_ns();
    run_queued(*gpu_, request_, times);
    return gigabytes_per_second(start);
  }
  std::vector<float> result() const { return gpu_->download(y_).get().value(); }

 private:
  device_under_test gpu_;
  jit::program program_;
  buffer<float> x_, y_;
  jit::launch request_;
};

}  // namespace

figures run_jit_saxpy(const settings& s) {
  loop_fn* const loop = compiled_loop();
  const auto from = random_floats(n, 1);
  const auto start = random_floats(n, 2);
  auto to = start;
  const auto raw = [&] {
    const std::int64_t begin = now_ns();
    for (int i = 0; i < times; ++i) loop(n, factor, from.data(), to.data());
    return gigabytes_per_second(begin);
  };
  figures f;
  {
    // The worker has one core, like the loop.
    std::optional<kernel_under_test> kernel;
    {
      const placement while_starting(placement::where::two_cores, {});
      placement::join_others(placement::where::two_cores);
      kernel.emplace(s, from, start);
    }
    const pair_of_medians one = interleaved(s.rounds(15), [&] { return kernel->rate(); }, raw);
    char note[96];
    std::snprintf(note, sizeof note, "by one core alone: %.3g against %.3g GB/s, ratio %.3g", one.ours, one.raw,
                  one.ours / one.raw);
    f.note = note;
    const auto result = kernel->result();
    for (std::size_t i = 0; i < result.size(); ++i)
      if (!(std::abs(result[i] - to[i]) <= 1e-4)) f.objection = "the results differ";
  }
  const kernel_under_test everywhere(s, from, start);
  const pair_of_medians all = interleaved(s.rounds(15), [&] { return everywhere.rate(); }, raw);
  f.ours = all.ours, f.raw = all.raw;
  return f;
}

}  // namespace troupe::bench

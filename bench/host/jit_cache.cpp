// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// A program that another process has compiled before: the time from the call of compile until the program can be
// launched.
#include <bench/device_under_test.hpp>
#include <bench/host/jit_kernels.hpp>
#include <bench/measures.hpp>
#include <bench/rounds.hpp>
#include <bench/system/temporary_folder.hpp>
#include <cstdlib>
#include <troupe/base/clock.hpp>

namespace troupe::bench {
namespace {

constexpr const char* source = R"(
__global__ void scale(float a, float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= a;
}
)";

// Measures in a new worker, which has had no requests.
double milliseconds_until_ready(const settings& s, kernel::image_source& from) {
  const device_under_test gpu(s, {.libraries = {"jit"}});
  const std::int64_t start = now_ns();
  const jit::program program = jit::compile(*gpu, {.source = source, .name = "scale.cu"});
  program.ready().get().value();
  const double took = static_cast<double>(now_ns() - start) / 1e6;
  from = program.summary().get().value().source;
  return took;
}

}  // namespace

figures run_jit_cache_hit(const settings& s) {
  const temporary_folder cache;  // filled by the compile below
  ::setenv("TROUPE_CACHE", cache.path().c_str(), 1);
  auto from = kernel::image_source::unknown;
  std::vector<double> times;
  const double cold = milliseconds_until_ready(s, from);
  bool hits = true;
  for (int i = 0; i < s.rounds(21); ++i) {
    times.push_back(milliseconds_until_ready(s, from));
    hits &= from == kernel::image_source::disk;
  }
  ::unsetenv("TROUPE_CACHE");
  figures f{.ours = median(std::move(times)), .raw = cold};
  if (!hits) f.objection = "the program was not taken from the cache on disk";
  return f;
}

}  // namespace troupe::bench

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Memory that moves between the host and a GPU as it is used. Pass "cuda" for a GPU.
#include <cstdio>
#include <troupe/device/managed.hpp>
#include <troupe/troupe.hpp>

using namespace troupe;

result<float> last_of(const device& gpu) {
  auto table = alloc_managed<float>(gpu, 1 << 20);
  gpu.upload(table, std::vector<float>(1 << 20, 0.25f));
  prefetch(gpu, table, managed_place::device);  // before it is used there

  if (gpu.statistics().engine != "host") {  // it has only one memory
    advise(gpu, table, managed_advice::read_mostly);
    const result<managed_range> now = managed(gpu, table).get();
    if (!now) return now.error();
    std::printf("read mostly: %d\n", now->read_mostly);
  }
  const auto values = gpu.download(table).get();
  if (!values) return values.error();  // fails if its worker was replaced: then allocate again
  return values->back();
}

int main(int argc, char** argv) {
  runtime rt;
  const device gpu = rt.open_device({.engine = argc > 1 ? argv[1] : "host"});
  const auto last = last_of(gpu);
  if (!last) return std::fprintf(stderr, "%s\n", last.error().to_string().c_str()), 1;
  std::printf("%g\n", static_cast<double>(*last));
  return *last == 0.25f ? 0 : 1;
}

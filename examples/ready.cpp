// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Opens the best device there is, and says which and why.
#include <cstdio>
#include <troupe/troupe.hpp>

using namespace troupe;

int main() {
  runtime rt;
  const result<device> gpu = rt.open_ready();  // {.engine = "cuda"} insists on a GPU
  if (!gpu) return std::fprintf(stderr, "%s\n", gpu.error().to_string().c_str()), 1;
  const device_statistics now = gpu->statistics();
  std::printf("%s: %s (%s)\n", now.name.c_str(), now.hardware.model.c_str(), now.engine_reason.c_str());
  return gpu->close().get() ? 0 : 1;
}

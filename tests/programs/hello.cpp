// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The first program of the README, with its values checked.
#include <cstdio>
#include <troupe/troupe.hpp>

int main() {
  troupe::runtime rt;
  troupe::device gpu = rt.open_device();
  auto x = gpu.alloc<float>(1 << 20);
  gpu.fill(x, 1.5f);
  auto values = gpu.download(x).get();
  if (!values) return std::fprintf(stderr, "%s\n", values.error().to_string().c_str()), 1;
  std::printf("%zu values, the last is %g, computed by process %d\n", values->size(), values->back(),
              gpu.statistics().worker_pid.value_or(0));
  for (const float v : *values)
    if (v != 1.5f) return std::fprintf(stderr, "hello: %g is not 1.5\n", v), 1;
  return values->size() == 1 << 20 && gpu.statistics().worker_pid ? 0 : 1;
}

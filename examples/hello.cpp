// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <troupe/troupe.hpp>

int main() {
  troupe::runtime rt;
  troupe::device gpu = rt.open_device();  // the host engine, in a worker process
  auto x = gpu.alloc<float>(1 << 20);
  gpu.fill(x, 1.5f);
  auto values = gpu.download(x).get();  // waits for all of the above; an error anywhere arrives here
  if (!values) return std::fprintf(stderr, "%s\n", values.error().to_string().c_str()), 1;
  std::printf("%zu values, the last is %g, computed by process %d\n", values->size(), values->back(),
              gpu.statistics().worker_pid.value_or(0));
}

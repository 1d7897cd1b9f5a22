// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Memory that both sides see, zeroed memory, a quota, a copy between matrices, and a time-out.
#include <chrono>
#include <cstdio>
#include <troupe/device/matrix_copy.hpp>
#include <troupe/troupe.hpp>

using namespace troupe;
using namespace std::chrono_literals;

int failed(const char* what) { return std::fprintf(stderr, "memory: %s\n", what), 1; }

int main() {
  troupe::runtime rt;
  device gpu = rt.open_device();

  host_buffer<float> both = gpu.alloc_host<float>(6);  // your program and the worker see it
  if (auto why = both.cause()) return failed(why->text().c_str());
  for (int i = 0; i < 6; ++i) both[i] = static_cast<float>(i);
  auto block = gpu.alloc<float>(6);
  if (!gpu.upload(block, both).get()) return failed("upload");  // do not write to `both` before this answer

  memory_quota client(64 << 10);  // bytes, for all allocations that name it
  auto matrix = gpu.alloc<float>(100, {.zeroed = true, .quota = client});
  auto refused = gpu.alloc<float>(1 << 20, {.quota = client});  // over the quota: stale from the start
  if (auto why = refused.cause()) std::printf("%s\n", why->to_string().c_str());

  // Copies a block of 2 rows and 3 columns to the corner of a matrix whose columns are 10 elements apart.
  copy_2d(gpu, matrix_copy{.to = matrix, .to_ld = 10, .from = block, .from_ld = tight, .rows = 2, .columns = 3});

  float corner[2];
  if (!gpu.download(matrix.slice(0, 2), corner).get()) return failed("download");  // `corner` lives until this answer

  pending<std::vector<float>> answer = gpu.download(matrix, {.timeout = 10s});  // not started by then: retry_later
  result<std::vector<float>> values = answer.get();
  if (!values) return failed(values.error().to_string().c_str());
  if ((*values)[11] != 3.0f || (*values)[2] != 0.0f || corner[1] != 1.0f || refused.readable())
    return failed("wrong values");
  std::printf("the matrix is right, and the client uses %llu bytes\n", static_cast<unsigned long long>(client.used()));
}

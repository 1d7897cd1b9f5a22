// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// A pipeline of blocks through host buffers: one is sent while another is computed and a third comes back.
#include <array>
#include <cstdio>
#include <troupe/async/when.hpp>
#include <troupe/blas/blas.hpp>
#include <troupe/troupe.hpp>
#include <vector>

using namespace troupe;

constexpr int n = 50000, blocks = 60, slots = 3;

float value_of(int block, int i) { return static_cast<float>((block * 17 + i) % 101); }

task<result<int>> stream_through(device gpu) {
  struct slot {
    host_buffer<float> to, from;
    buffer<float> x, y;
    pending<void> back;
    int block = -1;
  };
  std::array<slot, slots> all;
  for (slot& s : all)
    s = {.to = gpu.alloc_host<float>(n),
         .from = gpu.alloc_host<float>(n),
         .x = gpu.alloc<float>(n),
         .y = gpu.alloc<float>(n),
         .back = {}};
  int wrong = 0;
  for (int block = 0; block < blocks + slots; ++block) {
    slot& s = all[static_cast<std::size_t>(block % slots)];
    if (s.block >= 0) {
      co_await std::move(s.back);
      for (int i = 0; i < n; ++i) wrong += s.from[i] != 2 * value_of(s.block, i) + 1;
    }
    if (block >= blocks) continue;
    s.block = block;
    for (int i = 0; i < n; ++i) s.to[i] = value_of(block, i);
    gpu.upload(s.x, s.to);
    gpu.fill(s.y, 1.0f);
    gpu.tell(blas::axpy<float>{.x = s.x, .y = s.y, .n = n, .alpha = 2});
    s.back = gpu.download(s.y, s.from);
  }
  // Transfers the same data through ordinary memory, in place: the call has read its argument.
  auto x = gpu.alloc<float>(n), y = gpu.alloc<float>(n);
  std::vector<float> first(n), second(n);
  co_await when_all(gpu.upload(x, std::vector<float>(n, 3.0f)), gpu.upload(y, std::vector<float>(n, 4.0f)));
  co_await when_all(gpu.download(x, first), gpu.download(y, second));
  wrong += first != std::vector<float>(n, 3.0f) || second != std::vector<float>(n, 4.0f);
  co_return wrong;
}

int main() {
  runtime rt;
  const auto wrong = sync_wait(stream_through(rt.open_device()));
  if (!wrong) return std::fprintf(stderr, "overlap: %s\n", wrong.error().to_string().c_str()), 1;
  std::printf("%d blocks, %d wrong values\n", blocks, *wrong);
  return *wrong == 0 ? 0 : 1;
}

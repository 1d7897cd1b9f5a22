// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// A library actor of one's own: a request (sums/prefix.hpp), an engine that serves it (sums/engine.cpp), and their use.
#include <cstdio>
#include <troupe/troupe.hpp>

#include "sums/prefix.hpp"

using namespace troupe;

int main() {
  troupe::runtime rt;
  device gpu = rt.open_device({.engine_folders = {SUMS_ENGINE_FOLDER}});
  auto x = gpu.alloc<float>(100), y = gpu.alloc<float>(100);
  gpu.fill(x, 1.0f);
  gpu.tell(sums::prefix{.input = x, .output = y, .n = 100});
  result<std::vector<float>> sum = gpu.download(y).get();
  if (!sum || sum->back() != 100.0f) {
    std::fprintf(stderr, "own_actor: %s\n", sum ? "wrong sum" : sum.error().to_string().c_str());
    return 1;
  }
  std::puts("own_actor: the sum is right");
}

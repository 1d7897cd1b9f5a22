// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Prepares a product: measures algorithms, and gives the best to another program (here, to itself).
#include <cstdio>
#include <troupe/base/bfloat16.hpp>
#include <troupe/matmul/matmul.hpp>
#include <troupe/troupe.hpp>

using namespace troupe;

int main() {
  runtime rt;
  const device gpu = rt.open_device();
  constexpr int m = 512, n = 768, k = 1024;
  const auto filled = [&gpu](int count) {
    const auto out = gpu.alloc<bfloat16>(static_cast<std::size_t>(count));
    gpu.fill(out, bfloat16(0.5f));
    return out;
  };
  const matmul::multiplication request{.a = matrix(filled(m * k), m, k),
                                       .b = matrix(filled(k * n), k, n),
                                       .d = matrix(gpu.alloc<float>(m * n), m, n),
                                       .epilogue = relu(epilogue::acc)};

  auto p = matmul::prepare{request, 8};  // measures up to 8 algorithms, on these operands
  const auto words = gpu.alloc<std::uint64_t>(matmul::choice::size);
  p.options.chosen = words;  // writes down which it takes
  const matmul::plan_info info = gpu.ask(p).get().value();
  const matmul::choice best(gpu.download(words).get().value());  // for a file, say

  auto again = matmul::prepare{request};
  again.options.choice = best;  // takes this one
  const matmul::plan_info given = gpu.ask(again).get().value();
  gpu.ask(request).get().value();
  std::printf("%d algorithms measured; the best is number %d and takes %.1f us, the first %.1f us\n", info.measured,
              given.algorithm, info.microseconds, info.first_microseconds);
  return given.algorithm == info.algorithm ? 0 : 1;
}

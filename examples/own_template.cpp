// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// A template of your own, with the same parts as those of troupe::cutlass: the problem is what the code depends on, the
// plan how it is built, and a launch has the rest. So new sizes and addresses compile nothing.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <troupe/jit/jit.hpp>
#include <troupe/troupe.hpp>

using namespace troupe;

// D = tail(A * B): each block computes a tile of D. `tail.h` is the user's: it has the class `tail`.
constexpr const char* source = R"(
#include "tail.h"

template <int Tile>
__global__ void product(const float* a, const float* b, float* d, int m, int n, int k, tail finish) {
  __shared__ float from_a[Tile][Tile + 1], from_b[Tile][Tile + 1];
  const int row = blockIdx.y * Tile + threadIdx.y, column = blockIdx.x * Tile + threadIdx.x;
  float sum = 0;
  for (int term = 0; term < k; term += Tile) {
    const int across = term + threadIdx.x, down = term + threadIdx.y;
    from_a[threadIdx.y][threadIdx.x] = row < m && across < k ? a[row * k + across] : 0;
    from_b[threadIdx.y][threadIdx.x] = down < k && column < n ? b[down * n + column] : 0;
    __syncthreads();
    for (int i = 0; i < Tile; ++i) sum += from_a[threadIdx.y][i] * from_b[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && column < n) d[row * n + column] = finish(sum, row, column);
}
)";

// Properties that the code depends on.
struct problem {
  std::string tail;  // the text of the class
  friend auto operator<=>(const problem&, const problem&) = default;
};
// The choices with which it is built.
struct plan {
  int tile;
  friend auto operator<=>(const plan&, const plan&) = default;
};
// The arguments of each launch.
struct product {
  matrix<float> a, b, d;
};

class products {
 public:
  explicit products(const device& gpu) : gpu_(gpu) {}

  // `values` are those of the tail, as one argument. Returns the plan.
  template <class Values>
  plan multiply(const problem& p, const product& x, const Values& values) {
    const plan best = choose(x);
    const kernel::function code = program_for(p, best).kernel(name_of(best));
    const auto side = [&](extent all) { return kernel::blocks_for(all, best.tile); };
    gpu_.tell(jit::launch{.kernel = code,
                          .grid = {side(x.d.columns()), side(x.d.rows())},
                          .block = {best.tile, best.tile},
                          .arguments = {x.a.memory(), x.b.memory(), out(x.d.memory()), static_cast<int>(x.d.rows()),
                                        static_cast<int>(x.d.columns()), static_cast<int>(x.a.columns()), values}});
    return best;
  }
  std::size_t kernels() const { return programs_.size(); }

 private:
  static std::string name_of(const plan& p) { return "product<" + std::to_string(p.tile) + ">"; }

  // The cost model: terms that are read, and threads that compute nothing.
  static plan choose(const product& x) {
    const auto cost = [&](int tile) {
      const auto rounded = [&](extent all) { return static_cast<double>(((all + (tile - 1)) / tile * tile).value()); };
      return rounded(x.d.rows()) * rounded(x.d.columns()) * rounded(x.a.columns()) * (1 + 16.0 / tile);
    };
    constexpr std::array tiles = {8, 16, 32};
    return {*std::min_element(tiles.begin(), tiles.end(), [&](int i, int j) { return cost(i) < cost(j); })};
  }

  // Compiled once for a problem and a plan; no thread waits here: launches follow the compiler.
  const jit::program& program_for(const problem& p, const plan& how) {
    const auto [at, is_new] = programs_.try_emplace({p, how});
    if (is_new)
      at->second = jit::compile(
          gpu_, {.source = source, .name = "product.cu", .kernels = {name_of(how)}, .headers = {{"tail.h", p.tail}}});
    return at->second;
  }

  device gpu_;
  std::map<std::pair<problem, plan>, jit::program> programs_;
};

int main() {
  runtime rt;
  const device gpu = rt.open_device();
  products all(gpu);
  // A result that depends on its row and column, for which cutlass has no node.
  const problem banded{R"(
struct tail {
  float factor;
  int width;
  __device__ float operator()(float sum, int row, int column) const {
    const int apart = row > column ? row - column : column - row;
    return apart < width ? factor * sum : 0;
  }
};
)"};
  struct values {
    float factor;
    int width;
  };
  std::printf("   m    n    k   tile   width   kernels so far\n");
  bool right = true;
  for (const auto& [m, n, k, width] : {std::array{5, 7, 6, 2}, {130, 70, 33, 20}, {200, 170, 40, 50}, {6, 6, 90, 3}}) {
    const std::vector<float> ones(static_cast<std::size_t>(std::max(m, n) * k), 1.0f);
    const product x{{gpu.upload(ones), m, k}, {gpu.upload(ones), k, n}, {gpu.alloc<float>(m * n), m, n}};
    const plan used = all.multiply(banded, x, values{0.5f, width});
    const auto got = gpu.download(x.d.memory()).get();
    if (!got) return std::fprintf(stderr, "own_template: %s\n", got.error().to_string().c_str()), 1;
    for (int i = 0; i < m * n; ++i) {
      const float should = std::abs(i / n - i % n) < width ? 0.5f * static_cast<float>(k) : 0.0f;
      right = right && (*got)[static_cast<std::size_t>(i)] == should;
    }
    std::printf("%4d %4d %4d %6d %7d %12zu\n", m, n, k, used.tile, width, all.kernels());
  }
  return right ? 0 : 1;
}

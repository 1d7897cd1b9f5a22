// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstring>
#include <troupe/cuda/testing/kernels_on_host.hpp>

#include "../kernels/warps.cuh"

/// The functions of warps.cuh for kernels that run on the host. There, __syncthreads runs each thread of the block to
/// its next __syncthreads, so that it also is a barrier for a warp if all its lanes call the same functions.
namespace troupe::dnn::on_gpu {

namespace on_host {

inline constexpr int most_threads = 1024, most_words = 8;
inline std::uint32_t shown[most_threads][most_words];

inline int lane() { return static_cast<int>(threadIdx.x) % 32; }
inline std::uint32_t (*warp())[most_words] { return shown + (static_cast<int>(threadIdx.x) - lane()); }
/// Shares each lane's words with the warp, and returns `f(words of all lanes)`.
template <int Words, class F>
auto show(const std::uint32_t (&words)[Words], F&& f) {
  static_assert(Words <= most_words);
  std::memcpy(warp()[lane()], words, sizeof words);
  __syncthreads();
  const auto out = f(warp());
  __syncthreads();
  return out;
}
template <class H>
float half_of(std::uint32_t word, int upper) {
  const auto bits = static_cast<std::uint16_t>(word >> (16 * upper));
  H x;
  std::memcpy(static_cast<void*>(&x), &bits, sizeof bits);
  return static_cast<float>(x);
}

}  // namespace on_host

template <class T>
T from_lane(T x, int of) {
  static_assert(sizeof(T) == 4);
  return on_host::show({std::bit_cast<std::uint32_t>(x)},
                       [&](const auto* lanes) { return std::bit_cast<T>(lanes[of][0]); });
}
inline bool any_lane(bool x) {
  return on_host::show({std::uint32_t{x}}, [](const auto* lanes) {
    bool any = false;
    for (int l = 0; l < 32; ++l) any |= lanes[l][0] != 0;
    return any;
  });
}
inline void wait_for_block() {
  static unsigned arrived, passed;
  const unsigned before = passed;
  if (++arrived == blockDim.x) arrived = 0, ++passed;
  while (passed == before) __syncthreads();
}

template <class H>
void multiply_small(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1) {
  struct results {
    float of[4];
  };
  const results sums = on_host::show({a[0], a[1], a[2], a[3], b0, b1}, [&](const auto* lanes) {
    const int g = on_host::lane() / 4, j = on_host::lane() % 4;
    results out{};
    for (int i = 0; i < 4; ++i) {
      const int row = g + i / 2 * 8, column = 2 * j + i % 2;
      for (int k = 0; k < 16; ++k) {
        const int lane = k % 8 / 2;
        const std::uint32_t of_a = lanes[row % 8 * 4 + lane][row / 8 + k / 8 * 2],
                            of_b = lanes[column * 4 + lane][4 + k / 8];
        out.of[i] += on_host::half_of<H>(of_a, k % 2) * on_host::half_of<H>(of_b, k % 2);
      }
    }
    return out;
  });
  for (int i = 0; i < 4; ++i) c[i] += sums.of[i];
}

inline std::uint32_t transposed(std::uint32_t pair) {
  return on_host::show({pair}, [](const auto* lanes) {
    const int g = on_host::lane() / 4, j = on_host::lane() % 4;
    const auto at = [&](int row, int column) {
      return lanes[row * 4 + column / 2][0] >> (column % 2 * 16) & std::uint32_t{0xffff};
    };
    return at(2 * j, g) | at(2 * j + 1, g) << 16;
  });
}

template <bool Upper>
std::uint32_t halves_of(std::uint32_t first, std::uint32_t second) {
  return Upper ? first >> 16 | (second & 0xffff0000u) : (first & 0xffffu) | second << 16;
}

inline eight_halves read_once(const void* from) {
  eight_halves out;
  std::memcpy(&out, from, sizeof out);
  return out;
}
inline float power_of_two(float x) { return std::exp2(x); }

}  // namespace troupe::dnn::on_gpu

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The kernels that a user would write without fused products: simple passes over memory, 16 bytes at a time.
#include <cuda_bf16.h>
#include <cuda_fp8.h>

namespace {

constexpr int numbers = 8;  // elements of bf16 that a thread loads at a time
struct alignas(16) pack {
  __nv_bfloat16 at[numbers];
};

__device__ long long first() { return (long long)blockIdx.x * blockDim.x + threadIdx.x; }
__device__ long long step() { return (long long)gridDim.x * blockDim.x; }

}  // namespace

// Reads all words, and writes if one has a value that none has: otherwise the compiler would omit the loads.
extern "C" __global__ void read_all(const uint4* from, long long count, unsigned never, unsigned* to) {
  unsigned seen = 0;
  long long i = first();
  for (; i + 3 * step() < count; i += 4 * step()) {
    uint4 x[4];
    for (int j = 0; j < 4; ++j) x[j] = __ldcs(from + i + j * step());
    for (int j = 0; j < 4; ++j) seen |= x[j].x ^ x[j].y ^ x[j].z ^ x[j].w;
  }
  for (; i < count; i += step()) {
    const uint4 x = __ldcs(from + i);
    seen |= x.x ^ x.y ^ x.z ^ x.w;
  }
  if (seen == never) *to = seen;
}

// D = silu(left half) * right half, of a product with 2n columns.
extern "C" __global__ void gate(const pack* product, pack* d, long long rows, long long n) {
  const long long packs = n / numbers;
  for (long long i = first(); i < rows * packs; i += step()) {
    const long long row = i / packs, column = i % packs;
    const pack left = product[row * 2 * packs + column], right = product[row * 2 * packs + packs + column];
    pack out;
    for (int j = 0; j < numbers; ++j) {
      const float x = __bfloat162float(left.at[j]);
      out.at[j] = __float2bfloat16(x / (1 + __expf(-x)) * __bfloat162float(right.at[j]));
    }
    d[i] = out;
  }
}

// Computes the sum of each row, with one block for each.
extern "C" __global__ void sum_rows(const pack* d, float* sums, long long n) {
  __shared__ float of_warps[32];
  const pack* const row = d + blockIdx.x * (n / numbers);
  float sum = 0;
  for (long long i = threadIdx.x; i < n / numbers; i += blockDim.x) {
    const pack x = row[i];
    for (int j = 0; j < numbers; ++j) sum += __bfloat162float(x.at[j]);
  }
  for (int other = 16; other > 0; other /= 2) sum += __shfl_xor_sync(~0u, sum, other);
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int w = 1; w < blockDim.x / 32; ++w) sum += of_warps[w];
  sums[blockIdx.x] = sum;
}

// D = scale * X in e4m3, and the largest magnitude of X. Magnitudes have the same order as their bits.
extern "C" __global__ void quantize(const pack* x, __nv_fp8_e4m3* d, long long count, float scale, unsigned* largest) {
  unsigned mine = 0;
  for (long long i = first(); i < count / numbers; i += step()) {
    const pack from = x[i];
    alignas(8) __nv_fp8_e4m3 out[numbers];
    for (int j = 0; j < numbers; ++j) {
      const float number = __bfloat162float(from.at[j]);
      mine = max(mine, __float_as_uint(fabsf(number)));
      out[j] = __nv_fp8_e4m3(number * scale);
    }
    *reinterpret_cast<uint2*>(d + i * numbers) = *reinterpret_cast<const uint2*>(out);
  }
  mine = __reduce_max_sync(~0u, mine);
  if (threadIdx.x % 32 == 0 && mine != 0) atomicMax(largest, mine);
}

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel_vendor_groups.hpp"

/// Lists groups of rows, as CUTLASS's grouped products read them.
namespace troupe::cutlass::on_gpu {

using kernel_arguments::grouped_matrix, kernel_arguments::vendor_groups;

constexpr int group_threads = 256;

/// Returns the combination of the values of all threads up to this one.
template <class T, class Combine>
__device__ T combined_prefix(T (&shared)[group_threads], T mine, Combine combine) {
  const int me = static_cast<int>(threadIdx.x);
  shared[me] = mine;
  __syncthreads();
  for (int step = 1; step < group_threads; step *= 2) {
    const T before = me >= step ? shared[me - step] : mine;
    __syncthreads();
    if (me >= step) shared[me] = combine(before, shared[me]);
    __syncthreads();
  }
  return shared[me];
}

/// Lists the groups. Launched as one block of 256 threads; each lists a group, then the group 256 further, and so on. A
/// group of a wrong size and all groups after it are listed without rows.
inline __device__ void list_groups(const vendor_groups& p) {
  __shared__ long long sums[group_threads];
  __shared__ int wrongs[group_threads];
  long long rows_before = 0;
  int first_wrong = p.groups;
  for (int begin = 0; begin < p.groups; begin += group_threads) {
    const int g = begin + static_cast<int>(threadIdx.x);
    const bool is_group = g < p.groups;
    const int size = is_group ? p.sizes[g] : 0;
    const long long all = combined_prefix<long long>(sums, size, [](long long x, long long y) { return x + y; });
    const long long first = p.packed != 0 ? rows_before + all - size : 0;
    const int wrong = size < 0 || size > p.rows - first ? g : p.groups;
    const int least = combined_prefix<int>(wrongs, wrong, [](int x, int y) { return x < y ? x : y; });
    const bool computed = least >= p.groups && first_wrong >= p.groups;
    if (is_group && wrong == g && least == g && first_wrong >= p.groups && p.wrong != nullptr)
      p.wrong[0] = g, p.wrong[1] = size, p.wrong[2] = static_cast<int>(p.rows - first);
    if (is_group) {
      p.shapes[3 * g] = computed ? size : 0, p.shapes[3 * g + 1] = p.n, p.shapes[3 * g + 2] = p.k;
      for (const grouped_matrix& m : p.matrices) {
        m.addresses[g] = m.first + static_cast<unsigned long long>((computed ? first : 0) * m.row + g * m.group);
        m.lines[g] = m.line;
      }
    }
    rows_before += sums[group_threads - 1];
    if (wrongs[group_threads - 1] < first_wrong) first_wrong = wrongs[group_threads - 1];
    __syncthreads();
  }
}

}  // namespace troupe::cutlass::on_gpu

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <limits>
#include <troupe/dnn/operations/random/generator.hpp>
#include <troupe/epilogue/cuda/numbers.cuh>
#include <troupe/epilogue/op_definitions.hpp>
#include <troupe/dnn/operations/random/attributes.hpp>

#include "entry_points.cuh"
#include "kernel_arguments.hpp"

namespace troupe::dnn::on_gpu {

using i64 = std::int64_t;

/// Returns x * y + z, rounded once. Sums of many products need it, because the compiler does not fuse multiplications
/// and additions by itself (../CMakeLists.txt forbids it).
template <class N>
__device__ N multiply_add(N x, N y, N z) {
  return std::fma(x, y, z);
}

/// Computes nothing, but keeps kernels of vendors' libraries from overlapping: it begins only after the kernel before
/// it has ended, and the kernel after it cannot begin before it ends.
template <class N>
__device__ void order_barrier(const kernel_arguments::order_barrier_arguments&) {}

/// Return the first element of this thread, and the stride to its next one.
__device__ inline i64 first_of_thread() { return static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ inline i64 all_threads() { return static_cast<i64>(gridDim.x) * blockDim.x; }

/// Returns the random number at a position of a sequence.
template <class N>
__device__ N random_at(const kernel_arguments::sequence& s, i64 position) {
  std::uint64_t seed = s.seed, n = s.offset + static_cast<std::uint64_t>(position);
  const auto pair = [&](i64 i) {
    return s.words[i * s.word_stride] | static_cast<std::uint64_t>(s.words[(i + 1) * s.word_stride]) << 32;
  };
  if (s.words != nullptr) seed = pair(0);
  if (s.words != nullptr && s.word_count == 4) n += pair(2);
  const auto kind = static_cast<random_kind>(s.kind);
  if (kind == random_kind::normal) return random_normal<N>(seed, n);
  const std::uint32_t word = random_word(seed, n);
  return kind == random_kind::uniform ? uniform_of<N>(word) : bernoulli_of<N>(word, s.limit);
}

/// Returns the element of an operand at an index along an axis, or NaN if there is none.
template <class N>
__device__ N part_at(const kernel_arguments::operand& of, i64 offset, N index,
                     double count, double stride) {
  if (!(index >= 0) || !(static_cast<double>(index) < count)) return std::numeric_limits<N>::quiet_NaN();
  return epilogue::on_gpu::number<N>::load(static_cast<dtype>(of.type), of.memory,
                                           offset + static_cast<i64>(index) * static_cast<i64>(stride));
}

/// Interprets the operations of an elementwise kernel. Each thread computes one element after another.
template <class N>
__device__ void compute_elements(const kernel_arguments::elements& e) {
  using number = epilogue::on_gpu::number<N>;
  using kernel_arguments::operation;
  for (i64 n = first_of_thread(); n < e.count; n += all_threads()) {
    i64 index[kernel_arguments::most_axes];
    i64 rest = n;
    for (i64 i = e.rank; i-- > 0; rest /= e.extents[i]) index[i] = rest % e.extents[i];
    N values[kernel_arguments::most_operations];
    for (std::uint64_t k = 0; k < e.operations; ++k) {
      const operation& o = e.all[k];
      const kernel_arguments::operand& at = e.operands[o.operand];
      i64 offset = 0;
      if (o.what == operation::read || o.what == operation::write || o.what == operation::random ||
          o.what == operation::position || o.what == operation::read_at)
        for (i64 i = 0; i < e.rank; ++i) offset += index[i] * at.strides[i];
      if (o.what == operation::read)
        values[k] = number::load(static_cast<dtype>(at.type), at.memory, offset);
      else if (o.what == operation::number)
        values[k] = static_cast<N>(o.value);
      else if (o.what == operation::apply)
        values[k] = epilogue::value_of(static_cast<epilogue::op>(o.function), values[o.from[0]], values[o.from[1]],
                                       values[o.from[2]]);
      else if (o.what == operation::round)
        values[k] = number::rounded(static_cast<dtype>(o.type), values[o.from[0]]);
      else if (o.what == operation::random)
        values[k] = random_at<N>(e.sequences[o.from[0]], offset);
      else if (o.what == operation::position)
        values[k] = static_cast<N>(offset);
      else if (o.what == operation::read_at)
        values[k] = part_at<N>(at, offset, values[o.from[0]], e.all[o.from[1]].value, e.all[o.from[2]].value);
      else
        number::store(static_cast<dtype>(at.type), at.memory, offset, values[o.from[0]]);
    }
  }
}

KERNELS(order_barrier, order_barrier_arguments, order_barrier)
KERNELS(elements, elements, compute_elements)

}  // namespace troupe::dnn::on_gpu

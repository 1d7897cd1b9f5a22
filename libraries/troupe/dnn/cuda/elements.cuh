// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/epilogue/cuda/numbers.cuh>
#include <troupe/epilogue/meaning.hpp>

#include "kernel_arguments.hpp"

namespace troupe::dnn::on_gpu {

using i64 = std::int64_t;

/// The first element of this thread among all, and the distance to its next.
__device__ inline i64 first_of_thread() { return static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ inline i64 all_threads() { return static_cast<i64>(gridDim.x) * blockDim.x; }

/// A pass: each thread interprets the operations for one element after the other.
template <class N>
__device__ void compute_elements(const kernel_arguments::elements& e) {
  using number = epilogue::on_gpu::number<N>;
  using kernel_arguments::operation;
  for (i64 n = first_of_thread(); n < e.count; n += all_threads()) {
    i64 index[kernel_arguments::most_indexes];
    i64 rest = n;
    for (i64 i = e.rank; i-- > 0; rest /= e.extents[i]) index[i] = rest % e.extents[i];
    N values[kernel_arguments::most_operations];
    for (std::uint64_t k = 0; k < e.operations; ++k) {
      const operation& o = e.all[k];
      const kernel_arguments::operand& at = e.operands[o.operand];
      i64 place = 0;
      if (o.what == operation::read || o.what == operation::write)
        for (i64 i = 0; i < e.rank; ++i) place += index[i] * at.strides[i];
      if (o.what == operation::read)
        values[k] = number::load(static_cast<dtype>(at.type), at.memory, place);
      else if (o.what == operation::number)
        values[k] = static_cast<N>(o.value);
      else if (o.what == operation::apply)
        values[k] = epilogue::value_of(static_cast<epilogue::op>(o.function), values[o.from[0]], values[o.from[1]],
                                       values[o.from[2]]);
      else if (o.what == operation::round)
        values[k] = number::rounded(static_cast<dtype>(o.type), values[o.from[0]]);
      else
        number::store(static_cast<dtype>(at.type), at.memory, place, values[o.from[0]]);
    }
  }
}

}  // namespace troupe::dnn::on_gpu

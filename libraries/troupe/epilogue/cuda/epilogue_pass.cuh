// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/epilogue/cuda/epilogue_arguments.hpp>
#include <troupe/epilogue/cuda/numbers.cuh>
#include <troupe/epilogue/op_definitions.hpp>

/// Kernels that compute an epilogue as a second pass over a product. They interpret the tree and execute each step for
/// several elements at a time. Memory bandwidth limits epilogues of ordinary size.
namespace troupe::epilogue::on_gpu {

using kernel_arguments::lanes, kernel_arguments::warps;

template <class N>
__device__ N number_of(double x) {
  if constexpr (std::is_floating_point_v<N>)
    return static_cast<N>(x);
  else
    return N(static_cast<decltype(N::real)>(x));
}

template <class T>
__device__ basic_complex<T> quotient(basic_complex<T> x, basic_complex<T> y) {
  // The scale keeps the squares from overflowing and from underflowing.
  const T scale = T(1) / fmax(fabs(y.real), fabs(y.imag));
  const T c = y.real * scale, d = y.imag * scale, square = c * c + d * d;
  return {(x.real * c + x.imag * d) / square * scale, (x.imag * c - x.real * d) / square * scale};
}

/// Computes to[i] = what(x[i], y[i], z[i]).
template <class N, int Count>
__device__ void apply(op what, N* to, const N* x, const N* y, const N* z) {
  if constexpr (std::is_floating_point_v<N>) {
    switch (what) {
#define TROUPE_CASE(OP)                                                            \
  case op::OP:                                                                     \
    for (int i = 0; i < Count; ++i) to[i] = value_of<N>(op::OP, x[i], y[i], z[i]); \
    break;
      TROUPE_CASE(negate)
      TROUPE_CASE(absolute)
      TROUPE_CASE(sign)
      TROUPE_CASE(exponential)
      TROUPE_CASE(relu)
      TROUPE_CASE(gelu)
      TROUPE_CASE(gelu_tanh)
      TROUPE_CASE(silu)
      TROUPE_CASE(tanh)
      TROUPE_CASE(sigmoid)
      TROUPE_CASE(softplus)
      TROUPE_CASE(hard_swish)
      TROUPE_CASE(d_relu)
      TROUPE_CASE(d_gelu)
      TROUPE_CASE(d_gelu_tanh)
      TROUPE_CASE(d_silu)
      TROUPE_CASE(d_tanh)
      TROUPE_CASE(d_sigmoid)
      TROUPE_CASE(d_softplus)
      TROUPE_CASE(d_hard_swish)
      TROUPE_CASE(add)
      TROUPE_CASE(subtract)
      TROUPE_CASE(multiply)
      TROUPE_CASE(divide)
      TROUPE_CASE(minimum)
      TROUPE_CASE(maximum)
      TROUPE_CASE(leaky_relu)
      TROUPE_CASE(d_leaky_relu)
      TROUPE_CASE(equal)
      TROUPE_CASE(less)
      TROUPE_CASE(less_equal)
      TROUPE_CASE(select)
#undef TROUPE_CASE
      default:
        for (int i = 0; i < Count; ++i) to[i] = elementary_value_of<N>(what, x[i], y[i]);
    }
  } else {
    for (int i = 0; i < Count; ++i) {
      const N a = x[i], b = y[i];
      switch (what) {
        case op::negate:
          to[i] = N(-a.real, -a.imag);
          break;
        case op::add:
          to[i] = N(a.real + b.real, a.imag + b.imag);
          break;
        case op::subtract:
          to[i] = N(a.real - b.real, a.imag - b.imag);
          break;
        case op::multiply:
          to[i] = N(a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real);
          break;
        case op::divide:
          to[i] = quotient(a, b);
          break;
        default:
          break;
      }
    }
  }
}

inline __device__ double combined(reduction how, double so_far, double x) {
  if (how == reduction::sum) return so_far + x;
  return value_of(op::maximum, so_far, how == reduction::maximum ? x : fabs(x));
}

// Combines one number from each lane of a warp. The result is valid in the first lane.
inline __device__ double combined_in_warp(reduction how, double x) {
#ifdef __CUDA_ARCH__
  for (int distance = lanes / 2; distance > 0; distance /= 2)
    x = combined(how, x, __shfl_down_sync(0xffffffffu, x, distance));
  return x;
#else
  __shared__ double all[warps][lanes];
  __syncthreads();
  all[threadIdx.y][threadIdx.x] = x;
  for (unsigned distance = lanes / 2; distance > 0; distance /= 2) {
    __syncthreads();
    if (threadIdx.x < distance)
      x = all[threadIdx.y][threadIdx.x] = combined(how, x, all[threadIdx.y][threadIdx.x + distance]);
  }
  return x;
#endif
}

/// Computes the epilogue for `Count` elements. `part` has their positions, and accesses the product and operands there.
template <class N, int Slots, int Count, class Part>
__device__ void interpret(const kernel_arguments::epilogue_pass& t, const Part& part) {
  const auto load = [&](const kernel_arguments::strided_matrix& p, const void* memory, N* to) {
    for (int i = 0; i < Count; ++i)
      to[i] = part.exists(i) ? number<N>::load(static_cast<dtype>(p.type), memory, part.index(p, i)) : N(0);
  };
  const auto store = [&](const kernel_arguments::strided_matrix& p, void* memory, const N* x) {
    for (int i = 0; i < Count; ++i)
      if (part.exists(i)) number<N>::store(static_cast<dtype>(p.type), memory, part.index(p, i), x[i]);
  };
  N values[Slots][Count];
  for (unsigned k = 0; k < t.steps; ++k) {
    const kernel_arguments::step& s = t.all[k];
    N* const to = values[s.to];
    const N* const x = values[s.arguments[0]];
    switch (s.what) {
      case op::accumulator:
      case op::left:
      case op::right:
        part.product(s.what == op::right, to);
        break;
      case op::number:
        for (int i = 0; i < Count; ++i) to[i] = number_of<N>(t.numbers[s.operand]);
        break;
      case op::load_number:
      case op::load_row:
      case op::load_column:
      case op::load:
        load(t.memory[s.operand], part.memory(s.operand), to);
        break;
      case op::convert:
        for (int i = 0; i < Count; ++i) to[i] = number<N>::rounded(s.type, x[i]);
        break;
      case op::store:
        store(t.memory[s.operand], part.memory(s.operand), x);
        break;
      case op::reduce:
        part.reduce(s, x);
        break;
      default:
        apply<N, Count>(s.what, to, x, values[s.arguments[1]], values[s.arguments[2]]);
    }
  }
  store(t.result, part.result(), values[t.all[t.steps - 1].to]);
}

/// `Count` elements of a column of a product in memory, `lanes` rows apart.
template <class N, int Count>
class column_part {
 public:
  __device__ column_part(const kernel_arguments::epilogue_pass& t, i64 which, i64 column, bool first_of_group)
      : t_(t),
        first_row_(static_cast<i64>(blockIdx.x) * lanes * Count + threadIdx.x),
        which_(which),
        column_(column),
        first_of_group_(first_of_group) {}

  __device__ bool exists(int i) const { return row(i) < t_.rows && column_ < t_.columns; }
  __device__ i64 index(const kernel_arguments::strided_matrix& p, int i) const {
    return which_ * p.batch_stride + row(i) * p.row_stride + column_ * p.column_stride;
  }
  __device__ void* memory(unsigned operand) const { return reinterpret_cast<void*>(t_.memory[operand].address); }
  __device__ void* result() const { return reinterpret_cast<void*>(t_.result.address); }
  __device__ void product(bool right, N* to) const {
    const kernel_arguments::strided_matrix& p = t_.product;
    for (int i = 0; i < Count; ++i)
      to[i] = exists(i) ? number<N>::load(static_cast<dtype>(p.type), reinterpret_cast<const void*>(p.address),
                                          index(p, i) + (right ? t_.right : 0))
                        : N(0);
  }
  __device__ void reduce(const kernel_arguments::step& s, const N* x) const {
    if constexpr (std::is_floating_point_v<N>) {  // complex numbers have no reductions
      auto* const partial = static_cast<double*>(memory(s.operand));
      const double start = start_of(s.combine);
      if (s.over == reduction_scope::row) {
        // Only this thread writes the partial result of this group and row, for all columns of the group.
        const i64 groups = static_cast<i64>(gridDim.y) * warps,
                  group = static_cast<i64>(blockIdx.y) * warps + threadIdx.y;
        for (int i = 0; i < Count; ++i) {
          if (row(i) >= t_.rows) continue;
          double& mine = partial[(which_ * groups + group) * t_.rows + row(i)];
          if (first_of_group_) mine = start;
          if (column_ < t_.columns) mine = combined(s.combine, mine, x[i]);
        }
        return;
      }
      double mine = start;
      for (int i = 0; i < Count; ++i)
        if (exists(i)) mine = combined(s.combine, mine, x[i]);
      mine = combined_in_warp(s.combine, mine);
      if (threadIdx.x == 0 && column_ < t_.columns)
        partial[(which_ * t_.columns + column_) * gridDim.x + blockIdx.x] = mine;
    }
  }

 private:
  __device__ i64 row(int i) const { return first_row_ + static_cast<i64>(i) * lanes; }
  const kernel_arguments::epilogue_pass& t_;
  const i64 first_row_, which_, column_;
  const bool first_of_group_;
};

template <class N, int Slots, int Count>
__device__ void run_epilogue(const kernel_arguments::epilogue_pass& t) {
  const i64 first = static_cast<i64>(blockIdx.y) * t.columns_of_block;
  for (i64 which = blockIdx.z; which < t.batch; which += gridDim.z)
    for (i64 j = 0; j < t.columns_of_block && first + j < t.columns; j += warps)
      // Called even if the column does not exist, because all lanes of a warp must take part in reductions.
      interpret<N, Slots, Count>(t, column_part<N, Count>(t, which, first + j + threadIdx.y, j == 0));
}

/// Combines the partial results of reductions, with one thread for each result.
inline __device__ void combine_each(const kernel_arguments::combine_arguments& c) {
  for (i64 b = blockIdx.z; b < c.batch; b += gridDim.z)
    for (i64 r = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; r < c.count;
         r += static_cast<i64>(gridDim.x) * blockDim.x) {
      double all = start_of(c.combine);
      const double* const from = c.partial + b * c.batch_stride + r * c.result_stride;
      for (i64 p = 0; p < c.parts; ++p) all = combined(c.combine, all, from[p * c.part_stride]);
      number<double>::store(static_cast<dtype>(c.to.type), reinterpret_cast<void*>(c.to.address),
                            b * c.to.batch_stride + r * c.to.row_stride, all);
    }
}

/// Combines the partial results of a reduction to one number for each matrix, with one block for each.
inline __device__ void combine_all(const kernel_arguments::combine_arguments& c) {
  __shared__ double of_warp[warps];
  const unsigned me = threadIdx.y * lanes + threadIdx.x;
  for (i64 b = blockIdx.z; b < c.batch; b += gridDim.z) {
    const double* const from = c.partial + b * c.batch_stride;
    double mine = start_of(c.combine);
    for (i64 p = me; p < c.parts; p += lanes * warps) mine = combined(c.combine, mine, from[p]);
    mine = combined_in_warp(c.combine, mine);
    __syncthreads();
    if (threadIdx.x == 0) of_warp[threadIdx.y] = mine;
    __syncthreads();
    if (me == 0) {
      for (unsigned w = 1; w < warps; ++w) mine = combined(c.combine, mine, of_warp[w]);
      number<double>::store(static_cast<dtype>(c.to.type), reinterpret_cast<void*>(c.to.address), b * c.to.batch_stride,
                            mine);
    }
  }
}

}  // namespace troupe::epilogue::on_gpu

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/operations/recurrence/attributes.hpp>

#include "elements.cuh"
#include "kernel_sequence_arguments.hpp"
#include "warps.cuh"

/// The operations of a recurrence's steps other than products. One thread writes each element.
namespace troupe::dnn::on_gpu {

__device__ inline recurrent_cell cell_of(const kernel_arguments::recurrence_shape& l) {
  return static_cast<recurrent_cell>(l.cell);
}
__device__ inline bool has_step(const kernel_arguments::recurrence_shape& l, i64 b, i64 t) {
  return l.lengths == nullptr || t < l.lengths[b];
}
template <class N>
__device__ N sigmoid_of(N x) {
  return epilogue::value_of(epilogue::op::sigmoid, x);
}
template <class N>
__device__ N tanh_of(N x) {
  return epilogue::value_of(epilogue::op::tanh, x);
}
template <class N>
__device__ void fill(void* to, const void* from, i64 count) {
  for (i64 n = first_of_thread(); n < count; n += all_threads())
    static_cast<N*>(to)[n] = from != nullptr ? static_cast<const N*>(from)[n] : N(0);
}

/// Writes the initial state. Writes the biases to the reserve, to which products are added later.
template <class N>
__device__ void recurrence_begin(const kernel_arguments::recurrence_arguments& r) {
  const auto& l = r.of;
  fill<N>(r.h, r.h0, l.batch * l.width);
  if (r.c != nullptr) fill<N>(r.c, r.c0, l.batch * l.hidden);
  const bool is_gru = cell_of(l) == recurrent_cell::gru;
  const i64 sums = l.rows + (is_gru ? l.hidden : 0), together = is_gru ? 2 * l.hidden : l.rows;
  const N *const b = static_cast<const N*>(r.input_bias), *const d = static_cast<const N*>(r.recurrent_bias);
  for (i64 n = first_of_thread(); n < l.time * l.batch * sums; n += all_threads()) {
    const i64 i = n % sums;
    N sum = 0;
    if (b != nullptr && i < l.rows) sum += b[i];
    if (d != nullptr && i < together) sum += d[i];
    if (d != nullptr && i >= l.rows) sum += d[i - l.hidden];
    static_cast<N*>(r.reserve)[n / sums * l.line + i] = sum;
  }
}

/// Computes the gates of unit j from their sums in a line of the reserve, and returns the unit's result.
template <class N>
__device__ N step_unit(const kernel_arguments::recurrence_shape& l, N* line, i64 j, N h, N* c) {
  const auto gate = [&](i64 i) -> N& { return line[i * l.hidden + j]; };
  switch (cell_of(l)) {
    case recurrent_cell::relu:
      return gate(0) = epilogue::value_of(epilogue::op::relu, gate(0));
    case recurrent_cell::tanh:
      return gate(0) = tanh_of(gate(0));
    case recurrent_cell::lstm: {
      const N i = gate(0) = sigmoid_of(gate(0)), f = gate(1) = sigmoid_of(gate(1)), g = gate(2) = tanh_of(gate(2)),
              o = gate(3) = sigmoid_of(gate(3));
      line[l.c_before + j] = *c;
      *c = f * *c + i * g;
      return o * tanh_of(*c);
    }
    default: {
      const N z = gate(1) = sigmoid_of(gate(1)), reset = gate(0) = sigmoid_of(gate(0)),
              n = gate(2) = tanh_of(gate(2) + reset * line[l.before_reset + j]);
      return (1 - z) * n + z * h;
    }
  }
}

/// Computes a step from the sums of its gates. With a projection, writes the unprojected state to the reserve,
/// otherwise the state to h and y.
template <class N>
__device__ void recurrence_step(const kernel_arguments::recurrence_arguments& r) {
  const auto& l = r.of;
  const i64 across = l.width > l.hidden ? l.width : l.hidden;
  for (i64 n = first_of_thread(); n < l.batch * across; n += all_threads()) {
    const i64 b = n / across, j = n % across, at = r.step * l.batch + b;
    N* const line = static_cast<N*>(r.reserve) + at * l.line;
    if (!has_step(l, b, r.step)) {
      for (i64 i = j; i < l.line; i += across) line[i] = 0;
      if (j < l.width) static_cast<N*>(r.y)[at * l.width + j] = 0;
      continue;
    }
    N* const h = static_cast<N*>(r.h) + b * l.width + j;
    const N before = j < l.width ? *h : N(0);
    if (j < l.width) line[l.h_before + j] = before;
    if (j >= l.hidden) continue;
    N* const c = r.c != nullptr ? static_cast<N*>(r.c) + b * l.hidden + j : nullptr;
    const N given = step_unit(l, line, j, before, c);
    if (l.unprojected != 0)
      line[l.unprojected + j] = given;
    else
      *h = static_cast<N*>(r.y)[at * l.width + j] = given;
  }
}
/// Copies a step's projected state from y to h; sets y to 0 beyond a sequence's length.
template <class N>
__device__ void recurrence_keep(const kernel_arguments::recurrence_arguments& r) {
  const auto& l = r.of;
  for (i64 n = first_of_thread(); n < l.batch * l.width; n += all_threads()) {
    N& y = static_cast<N*>(r.y)[r.step * l.batch * l.width + n];
    if (has_step(l, n / l.width, r.step))
      static_cast<N*>(r.h)[n] = y;
    else
      y = 0;
  }
}

/// Writes the gradient of the last state. Copies x, with 0 at the unused steps of short sequences, where x may hold
/// NaN.
template <class N>
__device__ void recurrence_gradient_begin(const kernel_arguments::recurrence_gradient_arguments& r) {
  const auto& l = r.of;
  fill<N>(r.dh, r.dlast_h, l.batch * l.width);
  if (r.dc != nullptr) fill<N>(r.dc, r.dlast_c, l.batch * l.hidden);
  if (l.lengths == nullptr) return;
  for (i64 n = first_of_thread(); n < l.time * l.batch * l.inputs; n += all_threads()) {
    const i64 line = n / l.inputs;
    static_cast<N*>(r.used_x)[n] = has_step(l, line % l.batch, line / l.batch) ? static_cast<const N*>(r.x)[n] : N(0);
  }
}
/// Computes the gradient of a step's projected state: dh, plus dy if it is given. Sets dh to 0.
template <class N>
__device__ void recurrence_gradient_sum(const kernel_arguments::recurrence_gradient_arguments& r) {
  const auto& l = r.of;
  for (i64 n = first_of_thread(); n < l.batch * l.width; n += all_threads()) {
    const i64 at = r.step * l.batch * l.width + n;
    N& dh = static_cast<N*>(r.dh)[n];
    N sum = 0;
    if (has_step(l, n / l.width, r.step)) {
      sum = dh + (r.dy != nullptr ? static_cast<const N*>(r.dy)[at] : N(0));
      dh = 0;
    }
    static_cast<N*>(r.projected)[at] = sum;
  }
}

/// Computes the gradients of the sums of unit j's gates from d, the gradient of the unit's result. Returns the part of
/// the gradient of the previous h that does not pass through the gates.
template <class N>
__device__ N step_unit_gradient(const kernel_arguments::recurrence_shape& l, const N* line, i64 j, N d, N* dc,
                                N* gradients) {
  const auto gate = [&](i64 i) { return line[i * l.hidden + j]; };
  const auto to = [&](i64 i) -> N& { return gradients[i * l.hidden + j]; };
  const auto d_sigmoid_from = [](N y) { return y * (1 - y); };
  const auto d_tanh_from = [](N y) { return 1 - y * y; };
  switch (cell_of(l)) {
    case recurrent_cell::relu:
      to(0) = gate(0) > 0 ? d : N(0);
      return 0;
    case recurrent_cell::tanh:
      to(0) = d * d_tanh_from(gate(0));
      return 0;
    case recurrent_cell::lstm: {
      const N before = line[l.c_before + j], c = tanh_of(gate(1) * before + gate(0) * gate(2));
      const N dc_after = *dc + d * gate(3) * d_tanh_from(c);
      to(0) = dc_after * gate(2) * d_sigmoid_from(gate(0)), to(1) = dc_after * before * d_sigmoid_from(gate(1));
      to(2) = dc_after * gate(0) * d_tanh_from(gate(2)), to(3) = d * c * d_sigmoid_from(gate(3));
      *dc = dc_after * gate(1);
      return 0;
    }
    default: {
      const N reset = gate(0), z = gate(1), c = gate(2), candidate = d * (1 - z) * d_tanh_from(c);
      to(0) = to(3) = candidate * line[l.before_reset + j] * d_sigmoid_from(reset);
      to(1) = to(4) = d * (line[l.h_before + j] - c) * d_sigmoid_from(z);
      to(2) = candidate, to(5) = candidate * reset;
      return d * z;
    }
  }
}
template <class N>
__device__ void recurrence_gradient_step(const kernel_arguments::recurrence_gradient_arguments& r) {
  const auto& l = r.of;
  for (i64 n = first_of_thread(); n < l.batch * l.hidden; n += all_threads()) {
    const i64 b = n / l.hidden, j = n % l.hidden, at = r.step * l.batch + b;
    N* const gradients = static_cast<N*>(r.gate_gradients) + at * l.gate_gradients;
    if (!has_step(l, b, r.step)) {
      for (i64 i = j; i < l.gate_gradients; i += l.hidden) gradients[i] = 0;
      continue;
    }
    const N* const line = static_cast<const N*>(r.reserve) + at * l.line;
    N* const dc = r.dc != nullptr ? static_cast<N*>(r.dc) + n : nullptr;
    if (r.of_units != nullptr) {
      step_unit_gradient(l, line, j, static_cast<const N*>(r.of_units)[n], dc, gradients);
      continue;
    }
    N& dh = static_cast<N*>(r.dh)[n];
    const N d = dh + (r.dy != nullptr ? static_cast<const N*>(r.dy)[at * l.width + j] : N(0));
    dh = step_unit_gradient(l, line, j, d, dc, gradients);
  }
}

/// Four neighboring elements of a line; elements after the line's end are 0.
template <class N>
struct alignas(16) four {
  N of[4];

  __device__ static four of_line(const N* from, i64 left) {
    four out{};
    if (left >= 4 && reinterpret_cast<std::uintptr_t>(from) % alignof(four) == 0)
      out = *reinterpret_cast<const four*>(from);
    else
      for (int k = 0; k < 4; ++k)
        if (k < left) out.of[k] = from[k];
    return out;
  }
};
/// Sums the columns of tables in a fixed order. A block sums `added_columns` columns at a time.
template <class N>
__device__ void add_lines(const kernel_arguments::add_lines_arguments& r) {
  using kernel_arguments::added_columns, kernel_arguments::added_lines, kernel_arguments::adding_threads;
  __shared__ double sums[added_lines][added_columns];
  const unsigned lanes = added_columns / 4, mine = threadIdx.x % lanes * 4, part = threadIdx.x / lanes;
  for (i64 n = blockIdx.x; n < r.blocks(); n += gridDim.x) {
    const bool second = n >= r.blocks_of_table();
    const auto& [x, to] = r.tables[second ? 1 : 0];
    const i64 begin = (n - (second ? r.blocks_of_table() : 0)) * added_columns, left = r.columns - begin - mine;
    const N* const from = static_cast<const N*>(x) + begin + mine;
    double sum[4] = {};
    constexpr int ahead = 8;  // lines that are read before the first of them is added
    for (i64 first = part; first < r.lines; first += ahead * added_lines) {
      four<N> some[ahead] = {};
      TROUPE_UNROLLED
      for (int i = 0; i < ahead; ++i)
        if (const i64 line = first + i * added_lines; line < r.lines)
          some[i] = four<N>::of_line(from + line * r.stride, left);
      TROUPE_UNROLLED
      for (int i = 0; i < ahead; ++i)
        for (int k = 0; k < 4; ++k) sum[k] += static_cast<double>(some[i].of[k]);
    }
    for (int k = 0; k < 4; ++k) sums[part][mine + k] = sum[k];
    __syncthreads();
    for (unsigned column = threadIdx.x; column < added_columns && begin + column < r.columns;
         column += adding_threads) {
      double all = 0;
      for (unsigned p = 0; p < added_lines; ++p) all += sums[p][column];
      static_cast<N*>(to)[begin + column] = static_cast<N>(all);
    }
    __syncthreads();
  }
}

KERNELS(recurrence_begin, recurrence_arguments, recurrence_begin)
KERNELS(recurrence_step, recurrence_arguments, recurrence_step)
KERNELS(recurrence_keep, recurrence_arguments, recurrence_keep)
KERNELS(recurrence_gradient_begin, recurrence_gradient_arguments, recurrence_gradient_begin)
KERNELS(recurrence_gradient_sum, recurrence_gradient_arguments, recurrence_gradient_sum)
KERNELS(recurrence_gradient_step, recurrence_gradient_arguments, recurrence_gradient_step)
KERNELS(add_lines, add_lines_arguments, add_lines)

}  // namespace troupe::dnn::on_gpu

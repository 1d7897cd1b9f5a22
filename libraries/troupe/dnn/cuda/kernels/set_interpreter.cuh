// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/sets/threads.cuh>

#include "elements.cuh"

/// Interprets set kernels: see sets/set_kernel.hpp. Each thread computes one element after another, and all values of
/// sets.
namespace troupe::dnn::on_gpu {

using kernel_arguments::set_arguments;

/// The set of a thread, and the values that it has computed for the set and for one element.
template <class N>
class set_interpreter {
 public:
  using number = epilogue::on_gpu::number<N>;
  using operation = kernel_arguments::operation;

  __device__ set_interpreter(const set_arguments& all, i64 set, unsigned thread) : all_(all), thread_(thread) {
    split(set, all.outer_rank, all.outside, outside_);
  }

  /// Computes operation k, whose value is one for each set and no reduction, or writes such a value.
  __device__ void compute_of_set(int k, bool writes) {
    if (all_.all[k].what != operation::write)
      compute(k);
    else if (writes && thread_ == 0)
      store(k);
  }
  /// Combines the elements of chunks `first` to `end` of all threads of the set for reduction k. `shared` is for the
  /// threads of the block.
  __device__ double combined(int k, i64 first, i64 end, double* shared) {
    const auto how = static_cast<reduction_kind>(all_.all[k].function);
    if (all_.chunks == 1 && !sets::combines_in_double(how)) return combined(of_chunk<N>(0, k, how), how, shared);
    double total = sets::start_of<double>(how);
    for (i64 c = first; c < end; ++c)
      total = sets::combine(how, total,
                            sets::combines_in_double(how) ? of_chunk<double>(c, k, how)
                                                          : static_cast<double>(of_chunk<N>(c, k, how)));
    return combined(total, how, shared);
  }
  /// Combines the moments of what reduction k reduces, likewise.
  __device__ sets::moments<double> combined_moments(int k, i64 first, i64 end, double* shared) {
    if (all_.chunks == 1) return combined(moments_of_chunk(0, k), shared);
    sets::moments<double> total{};
    for (i64 c = first; c < end; ++c) {
      const sets::moments<N> m = moments_of_chunk(c, k);
      total = sets::combine<N>(total, {static_cast<double>(m.count), static_cast<double>(m.mean),
                                       static_cast<double>(m.squares)});
    }
    return combined(total, shared);
  }
  /// Returns true if operation k reduces moments.
  __device__ bool has_moments(int k) const {
    return all_.all[k].type == operation::moments || all_.all[k].type == operation::squares;
  }
  template <class T>
  __device__ double combined(T mine, reduction_kind how, double* shared) {
    return static_cast<double>(sets::combine_in_memory(mine, sets::combine_as(how), thread_, threads(),
                                                       reinterpret_cast<T*>(shared)));
  }
  template <class T>
  __device__ sets::moments<double> combined(const sets::moments<T>& mine, double* shared) {
    const sets::moments<T> m = sets::combine_in_memory(mine, sets::combine_moments<N>(), thread_, threads(),
                                                       reinterpret_cast<sets::moments<T>*>(shared));
    return {static_cast<double>(m.count), static_cast<double>(m.mean), static_cast<double>(m.squares)};
  }
  __device__ void set_value(int k, double reduced) {
    if (all_.all[k].type != operation::moments)
      reduced = sets::finished<N>(static_cast<reduction_kind>(all_.all[k].function), reduced,
                                  1 / static_cast<double>(all_.elements), static_cast<double>(all_.elements));
    values_[k] = static_cast<N>(reduced);
  }
  /// Writes the results of the thread's elements of chunks `first` to `end`.
  __device__ void write_elements(i64 first, i64 end) {
    for (i64 c = first; c < end; ++c)
      for_each_index(c, [&](i64 index) {
        at(index, all_.operations);
        for (int k = 0; k < all_.operations; ++k)
          if (all_.all[k].what == operation::write && all_.all[k].is_of_set == 0) store(k);
      });
  }

 private:
  __device__ unsigned threads() const { return static_cast<unsigned>(all_.threads); }
  __device__ static void split(i64 n, int rank, const std::int64_t* extents, i64* indexes) {
    for (int i = rank; i-- > 0; n /= extents[i]) indexes[i] = n % extents[i];
  }
  template <class F>
  __device__ void for_each_index(i64 chunk, const F& f) {
    for (int v = 0; v < all_.vectors; ++v)
      for (int k = 0; k < all_.width; ++k)
        if (const i64 i = ((chunk * all_.vectors + v) * all_.threads + thread_) * all_.width + k; i < all_.elements) f(i);
  }
  // Combines the elements of a chunk in the type T.
  template <class T>
  __device__ T of_chunk(i64 chunk, int k, reduction_kind how) {
    const operation& o = all_.all[k];
    T part = sets::start_of<T>(how);
    for_each_index(chunk, [&](i64 index) {
      at(index, k);
      const auto x = static_cast<T>(values_[o.from[0]]);
      part = o.type == operation::products ? sets::multiply_add(x, static_cast<T>(values_[o.from[1]]), part)
                         : sets::combine(how, part, sets::prepared(how, x));
    });
    return part;
  }
  __device__ sets::moments<N> moments_of_chunk(i64 chunk, int k) {
    // Distances from the first element lose less to rounding than the elements.
    sets::moments<N> out{};
    N first = 0, sum = 0;
    for_each_index(chunk, [&](i64 index) {
      at(index, k);
      const N x = values_[all_.all[k].from[0]];
      if (out.count == 0) first = x;
      out.count += 1, sum += x - first;
    });
    if (out.count != 0) out.mean = sets::multiply_add(sum, 1 / out.count, first);
    for_each_index(chunk, [&](i64 index) {
      at(index, k);
      const N distance = values_[all_.all[k].from[0]] - out.mean;
      out.squares = sets::multiply_add(distance, distance, out.squares);
    });
    return out;
  }
  // Computes the values of an element before operation `end`.
  __device__ void at(i64 index, int end) {
    split(index, all_.inner_rank, all_.inside, inside_);
    for (int k = 0; k < end; ++k)
      if (all_.all[k].is_of_set == 0 && all_.all[k].what != operation::write) compute(k);
  }
  __device__ i64 offset(const set_arguments::operand& of, bool is_of_set) const {
    i64 out = 0;
    for (int i = 0; i < all_.outer_rank; ++i) out += outside_[i] * of.outside[i];
    for (int i = 0; i < all_.inner_rank && !is_of_set; ++i) out += inside_[i] * of.inside[i];
    return out;
  }
  __device__ void compute(int k) {
    const operation& o = all_.all[k];
    const N first = values_[o.from[0]];
    if (o.what == operation::read) {
      const set_arguments::operand& of = all_.operands[o.operand];
      values_[k] = number::load(static_cast<dtype>(of.type), of.memory, offset(of, o.is_of_set != 0));
    } else if (o.what == operation::number) {
      values_[k] = static_cast<N>(o.value);
    } else if (o.what == operation::position) {
      values_[k] = static_cast<N>(offset(all_.operands[o.operand], o.is_of_set != 0));
    } else if (o.what == operation::multiply_add) {
      values_[k] = sets::multiply_add(first, values_[o.from[1]], values_[o.from[2]]);
    } else if (o.what == operation::apply) {
      values_[k] =
          epilogue::value_of(static_cast<epilogue::op>(o.function), first, values_[o.from[1]], values_[o.from[2]]);
    } else {
      values_[k] = number::rounded(static_cast<dtype>(o.type), first);
    }
  }
  __device__ void store(int k) {
    const operation& o = all_.all[k];
    const set_arguments::operand& of = all_.operands[o.operand];
    number::store(static_cast<dtype>(of.type), of.memory, offset(of, o.is_of_set != 0), values_[o.from[0]]);
  }

  const set_arguments& all_;
  const unsigned thread_;
  i64 outside_[kernel_arguments::most_axes] = {}, inside_[kernel_arguments::most_axes] = {};
  N values_[kernel_arguments::most_set_operations] = {};
};

/// Computes the values of a set, and writes those that are results if `writes`. Calls `reduce(operation, number among the
/// reductions)` for each reduction.
template <class N, class Reduce>
__device__ void compute_set(set_interpreter<N>& my, const set_arguments& a, bool writes, const Reduce& reduce) {
  int reductions = 0;
  for (int k = 0; k < a.operations; ++k) {
    if (a.all[k].is_of_set == 0) continue;
    if (a.all[k].what == kernel_arguments::operation::reduce)
      reduce(k, reductions++);
    else
      my.compute_of_set(k, writes);
  }
}

/// Returns what a part of a set keeps of moments for operation k.
__device__ inline double part_of(const sets::moments<double>& m, const kernel_arguments::operation& o) {
  return o.type == kernel_arguments::operation::moments ? m.mean : m.squares;
}

template <class N>
__device__ void interpret_sets(const set_arguments& a) {
  __shared__ double shared[3 * kernel_arguments::most_threads_of_set];
  const auto threads = static_cast<unsigned>(a.threads);
  const unsigned thread = threadIdx.x % threads;
  const i64 at_once = blockDim.x / threads, items = a.sets * a.parts;
  for (i64 first = blockIdx.x * at_once; first < items; first += gridDim.x * at_once) {
    const i64 item = first + threadIdx.x / threads;
    const bool is_there = item < items;
    const i64 set = is_there ? item / a.parts : 0, part = is_there ? item % a.parts : 0;
    const i64 begin = a.chunks * part / a.parts, end = a.chunks * (part + 1) / a.parts;
    set_interpreter<N> my(a, set, thread);
    compute_set(my, a, is_there && a.parts == 1, [&](int k, int reduction) {
      const double reduced = my.has_moments(k) ? part_of(my.combined_moments(k, begin, end, shared), a.all[k])
                                               : my.combined(k, begin, end, shared);
      if (a.parts == 1)
        my.set_value(k, reduced);
      else if (is_there && thread == 0)
        a.partial[(reduction * a.sets + set) * a.parts + part] = reduced;
    });
    if (is_there) my.write_elements(begin, end);
  }
}

/// Returns the moments of a part for operation k, which is the reduction with this number.
__device__ inline sets::moments<double> moments_of_part(const set_arguments& a, int k, int reduction, i64 set, i64 part) {
  using operation = kernel_arguments::operation;
  const i64 of_chunk = i64{a.vectors} * a.threads * a.width;
  const i64 begin = a.chunks * part / a.parts * of_chunk, end = a.chunks * (part + 1) / a.parts * of_chunk;
  const auto kept = [&](int r) { return a.partial[(r * a.sets + set) * a.parts + part]; };
  const auto count = static_cast<double>((end < a.elements ? end : a.elements) - begin);
  if (a.all[k].type == operation::moments) return {count, kept(reduction), 0};
  int of_mean = 0;
  for (int i = 0; i < a.all[k].from[1]; ++i) of_mean += a.all[i].what == operation::reduce ? 1 : 0;
  return {count, kept(of_mean), kept(reduction)};
}

/// Combines the parts of sets, and computes the values of sets.
template <class N>
__device__ void interpret_parts(const set_arguments& a) {
  __shared__ double shared[3 * kernel_arguments::most_threads_of_set];
  constexpr unsigned threads = sets::threads_for_parts;
  const unsigned thread = threadIdx.x % threads;
  for (i64 first = blockIdx.x * (blockDim.x / threads); first < a.sets; first += gridDim.x * (blockDim.x / threads)) {
    const i64 item = first + threadIdx.x / threads;
    const bool is_there = item < a.sets;
    const i64 set = is_there ? item : 0;
    set_interpreter<N> my(a, set, thread);
    compute_set(my, a, is_there, [&](int k, int reduction) {
      if (my.has_moments(k)) {
        sets::moments<double> mine{};
        for (i64 p = thread; p < a.parts; p += threads)
          mine = sets::combine<N>(mine, moments_of_part(a, k, reduction, set, p));
        mine = sets::combine_in_memory(mine, sets::combine_moments<N>(), thread, threads,
                                       reinterpret_cast<sets::moments<double>*>(shared));
        return my.set_value(k, part_of(mine, a.all[k]));
      }
      const auto how = static_cast<reduction_kind>(a.all[k].function);
      double mine = sets::start_of<double>(how);
      for (i64 p = thread; p < a.parts; p += threads)
        mine = sets::combine(how, mine, a.partial[(reduction * a.sets + set) * a.parts + p]);
      my.set_value(k, sets::combine_in_memory(mine, sets::combine_as(how), thread, threads, shared));
    });
  }
}

BOUNDED_KERNEL(interpret_sets_f32, kernel_arguments::most_threads_of_set, 1, set_arguments, interpret_sets<float>)
BOUNDED_KERNEL(interpret_sets_f64, kernel_arguments::most_threads_of_set, 1, set_arguments, interpret_sets<double>)
KERNELS(interpret_parts, set_arguments, interpret_parts)

}  // namespace troupe::dnn::on_gpu

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "elements.cuh"
#include "kernel_image_arguments.hpp"

/// Operations on the lines along an axis: cumulative sums, and the largest or smallest elements.
namespace troupe::dnn::on_gpu {

using kernel_arguments::line_threads;

/// A block computes some neighboring lines at a time. It has a column of threads for each of them, and each thread adds
/// some elements that follow each other. The order of additions depends on the extents alone.
template <class N>
__device__ void cumulative_sum(const kernel_arguments::cumulative_arguments& r) {
  constexpr int each = 8;
  __shared__ double sums[2][line_threads];
  const i64 columns = r.columns, rows = line_threads / columns, tasks = (r.inner + columns - 1) / columns;
  const i64 mine = threadIdx.x % columns, row = threadIdx.x / columns;
  for (i64 task = blockIdx.x; task < r.outer * tasks; task += gridDim.x) {
    const i64 column = task % tasks * columns + mine, begin = task / tasks * r.extent * r.inner + column;
    double before_all = 0;
    for (i64 first = 0; first < r.extent; first += rows * each) {
      const i64 i = first + row * each, count = column < r.inner ? r.extent - i : 0;
      const auto offset = [&](i64 k) { return begin + (r.reversed != 0 ? r.extent - 1 - i - k : i + k) * r.inner; };
      double elements[each], sum = 0;
      for (int k = 0; k < each; ++k) {
        elements[k] = k < count ? static_cast<double>(static_cast<const N*>(r.x)[offset(k)]) : 0;
        sum += elements[k];
      }
      int now = 0;
      sums[now][threadIdx.x] = sum;
      __syncthreads();
      for (unsigned distance = static_cast<unsigned>(columns); distance < line_threads; distance *= 2, now = 1 - now) {
        const double before = threadIdx.x >= distance ? sums[now][threadIdx.x - distance] : 0;
        sums[1 - now][threadIdx.x] = before + sums[now][threadIdx.x];
        __syncthreads();
      }
      double before = before_all + (row > 0 ? sums[now][threadIdx.x - columns] : 0);
      before_all += sums[now][line_threads - columns + mine];
      __syncthreads();
      for (int k = 0; k < each; ++k) {
        const double with = before + elements[k];
        if (k < count) static_cast<N*>(r.y)[offset(k)] = static_cast<N>(r.exclusive != 0 ? before : with);
        before = with;
      }
    }
  }
}

/// Adds 1, and returns the number before.
__device__ inline unsigned add_one(unsigned& to) {
#ifdef __CUDA_ARCH__
  return atomicAdd(&to, 1u);
#else
  return to++;  // the host runs one thread of a block at a time
#endif
}

/// Returns bits that are larger for an element that is selected earlier. All NaN have the same bits, and so has 0 of
/// either sign.
template <class N>
__device__ std::uint64_t order_of(N x, bool smallest) {
  std::uint64_t bits = 0;
  constexpr int width = sizeof(N) * 8;
  if constexpr (width == 32)
    bits = __builtin_bit_cast(std::uint32_t, x == 0 ? N(0) : x);
  else
    bits = __builtin_bit_cast(std::uint64_t, x == 0 ? N(0) : x);
  constexpr std::uint64_t sign = std::uint64_t{1} << (width - 1), all = sign | (sign - 1);
  bits = x != x ? all : (bits & sign) != 0 ? ~bits & all : bits | sign;
  return smallest ? ~bits & all : bits;
}

template <class N>
struct line_of_elements {
  const kernel_arguments::top_k_arguments& r;
  i64 line;
  __device__ i64 offset(i64 i, i64 extent) const { return (line / r.inner * extent + i) * r.inner + line % r.inner; }
  __device__ N element(i64 i) const { return static_cast<const N*>(r.x)[offset(i, r.extent)]; }
  __device__ std::uint64_t order(i64 i) const { return order_of(element(i), r.smallest != 0); }
  __device__ void write(i64 place, i64 i) const {
    const i64 to = offset(place, r.count);
    static_cast<N*>(r.values)[to] = element(i), static_cast<N*>(r.indexes)[to] = static_cast<N>(i);
  }
};

/// Lines of at most `line_threads` elements: a thread for each element counts those that precede it. A block has several
/// lines.
template <class N>
__device__ void top_k_of_few(const kernel_arguments::top_k_arguments& r) {
  __shared__ std::uint64_t orders[line_threads];
  const i64 of_block = line_threads / r.extent, all = r.outer * r.inner, mine = threadIdx.x / r.extent,
            index = threadIdx.x % r.extent;
  for (i64 first = i64{blockIdx.x} * of_block; first < all; first += i64{gridDim.x} * of_block) {
    const line_of_elements<N> line{r, first + mine};
    const bool is_used = mine < of_block && line.line < all;
    const std::uint64_t order = is_used ? line.order(index) : 0;
    orders[threadIdx.x] = order;
    __syncthreads();
    i64 place = 0;
    for (i64 i = 0; is_used && i < r.extent; ++i) {
      const std::uint64_t other = orders[mine * r.extent + i];
      place += other > order || (other == order && i < index) ? 1 : 0;
    }
    if (is_used && place < r.count) line.write(place, index);
    __syncthreads();
  }
}

/// Finds the digit of the last selected element, of those whose higher digits are known: `counts` says how many have
/// each digit. `wanted` of them are selected; it becomes the number of those with the digit that are selected. Returns
/// the digit, and sets `has_all` if all with the digit are selected.
__device__ inline unsigned last_digit(unsigned (&counts)[2][line_threads], i64& wanted, bool& has_all) {
  __shared__ unsigned found[3];
  // From the largest digit to the smallest: thread 0 has the largest.
  const unsigned mine = counts[0][line_threads - 1 - threadIdx.x];
  __syncthreads();
  int now = 0;
  counts[0][threadIdx.x] = mine;
  __syncthreads();
  for (unsigned distance = 1; distance < line_threads; distance *= 2, now = 1 - now) {
    const unsigned before = threadIdx.x >= distance ? counts[now][threadIdx.x - distance] : 0;
    counts[1 - now][threadIdx.x] = before + counts[now][threadIdx.x];
    __syncthreads();
  }
  const i64 with = counts[now][threadIdx.x], without = with - mine;
  if (without < wanted && wanted <= with)
    found[0] = line_threads - 1 - threadIdx.x, found[1] = static_cast<unsigned>(without), found[2] = mine;
  __syncthreads();
  wanted -= found[1];
  has_all = found[2] == wanted;
  const unsigned digit = found[0];
  __syncthreads();
  return digit;
}

/// Sorts the indexes of the selected elements of a line by Batcher's odd-even merge sort.
template <class N>
__device__ void sort(const line_of_elements<N>& line, std::int32_t* chosen) {
  const i64 count = line.r.count;
  for (i64 merged = 1; merged < count; merged *= 2)
    for (i64 distance = merged; distance >= 1; distance /= 2) {
      const i64 first = distance % merged;
      for (i64 i = first + threadIdx.x; i + distance < count; i += line_threads) {
        if ((i - first) / distance % 2 != 0 || i / (2 * merged) != (i + distance) / (2 * merged)) continue;
        const std::int32_t a = chosen[i], b = chosen[i + distance];
        const std::uint64_t of_a = line.order(a), of_b = line.order(b);
        if (of_b > of_a || (of_b == of_a && b < a)) chosen[i] = b, chosen[i + distance] = a;
      }
      __syncthreads();
    }
}

/// A block selects from one line at a time. It finds the last selected element digit by digit: first those of its
/// order, then, among equal elements, those of its index. Then it sorts the selected elements.
template <class N>
__device__ void top_k(const kernel_arguments::top_k_arguments& r) {
  static_assert(line_threads == 256);  // digits have 8 bits
  constexpr int order_bits = sizeof(N) * 8, index_bits = 24;
  __shared__ unsigned counts[2][line_threads], selected;
  for (i64 l = blockIdx.x; l < r.outer * r.inner; l += gridDim.x) {
    const line_of_elements<N> line{r, l};
    const auto first_index = [&](i64 i) { return static_cast<std::uint64_t>((i64{1} << index_bits) - 1 - i); };
    i64 wanted = r.count;
    bool has_all = false;
    // Elements with the known digits of `bits` are compared by the next ones; `of(i)` are an element's bits.
    const auto narrow = [&](int width, std::uint64_t& bits, int& shift, const auto& of, const auto& takes_part) {
      for (shift = width; shift > 0 && !has_all;) {
        counts[0][threadIdx.x] = 0;
        __syncthreads();
        for (i64 i = threadIdx.x; i < r.extent; i += line_threads) {
          if (!takes_part(i)) continue;
          const std::uint64_t all = of(i);
          if (shift < width && all >> shift != bits >> shift) continue;
          add_one(counts[0][all >> (shift - 8) & 255]);
        }
        __syncthreads();
        shift -= 8;
        bits |= std::uint64_t{last_digit(counts, wanted, has_all)} << shift;
      }
    };
    std::uint64_t order = 0, index = 0;
    int order_shift = 0, index_shift = index_bits;
    narrow(order_bits, order, order_shift, [&](i64 i) { return line.order(i); }, [](i64) { return true; });
    if (!has_all)
      narrow(index_bits, index, index_shift, first_index, [&](i64 i) { return line.order(i) == order; });
    if (threadIdx.x == 0) selected = 0;
    __syncthreads();
    std::int32_t* const chosen = r.chosen + l * r.count;
    for (i64 i = threadIdx.x; i < r.extent; i += line_threads) {
      const std::uint64_t mine = line.order(i) >> order_shift, last = order >> order_shift;
      const bool is_chosen =
          mine > last ||
          (mine == last && (index_shift == index_bits || first_index(i) >> index_shift >= index >> index_shift));
      if (is_chosen) chosen[add_one(selected)] = static_cast<std::int32_t>(i);
    }
    __syncthreads();
    sort(line, chosen);
    for (i64 k = threadIdx.x; k < r.count; k += line_threads) line.write(k, chosen[k]);
    __syncthreads();
  }
}

KERNELS(cumulative_sum, cumulative_arguments, cumulative_sum)
KERNELS(top_k_of_few, top_k_arguments, top_k_of_few)
KERNELS(top_k, top_k_arguments, top_k)

}  // namespace troupe::dnn::on_gpu

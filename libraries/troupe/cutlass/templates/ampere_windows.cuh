// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Factors of convolutions, which threads gather from images. The coordinates of a thread's elements advance by a stage
// at a time, by addition to a number with four digits, without a division in the loop.
namespace troupe::cutlass::kernels::ampere {

// Returns true if the element with the coordinates line + term is in the image.
__device__ __forceinline__ bool in_image(const convolution_arguments& w, const int (&line)[rank],
                                         const int (&term)[rank]) {
  bool inside = true;
#pragma unroll
  for (int j = 0; j < rank; ++j)
    inside = inside && static_cast<unsigned>(line[j] + term[j]) < static_cast<unsigned>(w.image[j]);
  return inside;
}

// A factor whose lines are positions and whose terms are taps. If channels are not contiguous, elements pass through
// registers.
template <class F>
struct gathered_lines {
  using mine = thread_items<F>;
  static_assert(!F::by_lines && mine::distribution::even, "all items of a thread in a stage have the same terms");
  const convolution_arguments& w;
  const typename F::bits* from;
  i64 channel;
  i64 at[mine::count];
  int coordinates[mine::count][rank];
  int left;
  digits tap, step;

  __device__ gathered_lines(const convolution_arguments& convolution, const factor& f, const block_scales&, int batch,
                            int first_line, int all_lines, int k, int stage)
      : w(convolution),
        from(reinterpret_cast<const typename F::bits*>(f.address) + batch * f.batch),
        channel(F::scattered ? f.term : 1),
        left(k - stage * variant::depth - mine::unit(0)),
        tap(stage * variant::depth + mine::unit(0), radices::taps(convolution).of),
        step(variant::depth, radices::taps(convolution).of) {
#pragma unroll
    for (int i = 0; i < mine::count; ++i) {
      const int line = first_line + mine::line(i);
      const bool here = mine::distribution::exists(i) && line < all_lines;
      const digits position(here ? line : 0, radices::positions(convolution).of);
      at[i] = position.x[3] * convolution.image_strides[3];
#pragma unroll
      for (int j = 0; j < 3; ++j) {
        const int x = convolution.first[j] + position.x[j] * convolution.per_position[j];
        at[i] += x * convolution.image_strides[j];
        // Lines that do not exist have coordinates far outside the image.
        if (j < rank) coordinates[i][j] = here ? x : -(1 << 30);
      }
    }
  }
  // Returns the offset of a tap. Sets `shifts` to the tap's coordinates less those of the first tap.
  __device__ __forceinline__ i64 offset_of_k(const digits& t, int (&shifts)[rank]) const {
    i64 out = t.x[0] * channel;
#pragma unroll
    for (int j = 0; j < rank; ++j) {
      shifts[j] = t.x[j + 1] * w.per_tap[j];
      out += shifts[j] * w.image_strides[j];
    }
    return out;
  }
  __device__ __forceinline__ void advance() {
    tap.add(step, radices::taps(w).of);
    left -= variant::depth;
  }
  __device__ __forceinline__ void copy_to(unsigned to) {
    int shifts[rank];
    const typename F::bits* const base = from + offset_of_k(tap, shifts);
#pragma unroll
    for (int i = 0; i < mine::count; ++i) {
      if (!mine::distribution::exists(i)) break;
      const bool here = left > 0 && in_image(w, coordinates[i], shifts);
      copy<F::chunk>(to + F::at + F::offset_of(mine::line(i), mine::unit(i)), base + at[i], here ? F::chunk : 0);
    }
    advance();
  }
  template <class Scale>
  __device__ __forceinline__ void fetch_to(unsigned (&raw)[F::words]) {
    digits t = tap;
#pragma unroll
    for (int i = 0; i < mine::count; ++i) raw[i] = 0;
#pragma unroll
    for (int e = 0; e < mine::in_word; ++e) {
      int shifts[rank];
      const typename F::bits* const base = from + offset_of_k(t, shifts);
#pragma unroll
      for (int i = 0; i < mine::count; ++i)
        raw[i] |= packed_word<F>(load_if(left > e && in_image(w, coordinates[i], shifts), base + at[i]), e);
      t.advance(radices::taps(w).of);
    }
    advance();
  }
};

// A factor whose terms are positions (`Positions`) or taps, and whose lines are contiguous. If `Checked`, lines are
// taps, elements are gathered from an image, and elements outside of it are 0.
template <class F, bool Positions, bool Checked>
struct gathered_k {
  using mine = thread_items<F>;
  static_assert(F::by_lines && mine::distribution::even, "all items of a thread in a stage have the same lines");
  const convolution_arguments& w;
  const typename F::bits* from;  // address of the thread's line
  int coordinates[rank];
  int lines;  // number of existing lines, from the thread's first line on
  int left;
  // True if the coordinates of an item follow from those of the previous item, and those of the next stage's first item
  // from the last item: so a thread does not hold coordinates for each item beside the elements in registers.
  static constexpr bool chained = F::ordinary && mine::lines * mine::units % block_threads == 0;
  static constexpr int counters = chained ? 1 : mine::count, item_k = mine::distribution::step * mine::in_units;
  static_assert(!chained || mine::count * item_k == variant::depth, "items are the terms of a stage");
  digits at[counters], step;

  static __device__ __forceinline__ radices radix(const convolution_arguments& w) {
    return Positions ? radices::positions(w) : radices::taps(w);
  }
  __device__ gathered_k(const convolution_arguments& convolution, const factor& f, const block_scales&, int batch,
                        int first_line, int all_lines, int k, int stage)
      : w(convolution),
        from(reinterpret_cast<const typename F::bits*>(f.address) + batch * f.batch),
        left(k - stage * variant::depth),
        step(chained ? item_k : variant::depth, radix(convolution).of) {
    const int s = mine::line(0), in_half = first_line + F::line_of(s),
              line = in_half + (F::is_right(s) ? all_lines : 0);
    lines = all_lines - in_half;
    const i64 stride = F::scattered ? f.line : 1;
    if constexpr (Checked) {
      const digits tap(line, radices::taps(convolution).of);
      from += tap.x[0] * stride;
#pragma unroll
      for (int j = 0; j < 3; ++j) {
        const int x = convolution.first[j] + tap.x[j + 1] * convolution.per_tap[j];
        from += x * convolution.image_strides[j];
        if (j < rank) coordinates[j] = x;
      }
    } else {
      from += line * stride;
    }
#pragma unroll
    for (int i = 0; i < counters; ++i) at[i] = digits(stage * variant::depth + mine::unit(i), radix(convolution).of);
  }
  // Returns the offset of a term; sets `inside` to false if its element is outside of the image.
  __device__ __forceinline__ i64 offset_of_k(const digits& t, bool& inside) const {
    i64 out = 0;
    if constexpr (Checked) {
      int shifts[rank];
      out = t.x[3] * w.image_strides[3];
#pragma unroll
      for (int j = 0; j < rank; ++j) {
        shifts[j] = t.x[j] * w.per_position[j];
        out += shifts[j] * w.image_strides[j];
      }
      inside = inside && in_image(w, coordinates, shifts);
    } else {
#pragma unroll
      for (int j = 0; j < 4; ++j) out += t.x[j] * w.other_strides[j];
    }
    return out;
  }
  __device__ __forceinline__ void copy_to(unsigned to) {
#pragma unroll
    for (int i = 0; i < mine::count; ++i) {
      if (!mine::distribution::exists(i)) break;
      bool inside = mine::unit(i) < left;
      const i64 shift = offset_of_k(at[i], inside);
      const int count = inside ? max(0, min(mine::in_lines, lines)) : 0;
      copy<F::chunk>(to + F::at + F::offset_of(mine::line(i), mine::unit(i)), from + shift, count * F::size);
      at[i].add(step, radix(w).of);
    }
    left -= variant::depth;
  }
  template <class Scale>
  __device__ __forceinline__ void fetch_to(unsigned (&raw)[F::words]) {
#pragma unroll
    for (int i = 0; i < mine::count; ++i) {
      raw[i] = 0;
      digits& mine_at = at[chained ? 0 : i];
      digits t = mine_at;
#pragma unroll
      for (int e = 0; e < mine::in_word; ++e) {
        bool inside = mine::distribution::exists(i) && lines > 0 && mine::unit(i) + e < left;
        const i64 shift = offset_of_k(t, inside);
        raw[i] |= packed_word<F>(load_if(inside, from + shift), e);
        t.advance(radix(w).of);
      }
      mine_at.add(step, radix(w).of);
    }
    left -= variant::depth;
  }
};

}  // namespace troupe::cutlass::kernels::ampere

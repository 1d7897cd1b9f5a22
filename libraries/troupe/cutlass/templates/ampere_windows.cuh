// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Factors of convolutions, which threads gather from images. The coordinates that a thread copies advance by a stage
// each time, by addition to a number with four digits: there is no division in the loop.
namespace troupe::cutlass::kernels::ampere {

// Returns true if a position is in the image.
__device__ __forceinline__ bool in_image(const window& w, const int (&line)[rank], const int (&term)[rank]) {
  bool inside = true;
#pragma unroll
  for (int j = 0; j < rank; ++j)
    inside = inside && static_cast<unsigned>(line[j] + term[j]) < static_cast<unsigned>(w.image[j]);
  return inside;
}

// Lines are positions, terms are taps. Channels are contiguous; where they are not, numbers pass through registers.
template <class F>
struct gathered_lines {
  using mine = share<F>;
  static_assert(!F::by_lines && mine::spread_items::even, "all that a thread copies of a stage has the same terms");
  const window& w;
  const typename F::bits* from;
  i64 channel;
  i64 at[mine::count];
  int place[mine::count][rank];
  int left;
  digits tap, step;

  __device__ gathered_lines(const window& win, const factor& f, const block_scales&, int batch, int first_line,
                            int all_lines, int k, int stage)
      : w(win),
        from(reinterpret_cast<const typename F::bits*>(f.address) + batch * f.batch),
        channel(F::apart ? f.term : 1),
        left(k - stage * variant::depth - mine::unit(0)),
        tap(stage * variant::depth + mine::unit(0), radices::taps(win).of),
        step(variant::depth, radices::taps(win).of) {
#pragma unroll
    for (int i = 0; i < mine::count; ++i) {
      const int line = first_line + mine::line(i);
      const bool here = mine::spread_items::exists(i) && line < all_lines;
      const digits position(here ? line : 0, radices::positions(win).of);
      at[i] = position.x[3] * win.image_strides[3];
#pragma unroll
      for (int j = 0; j < 3; ++j) {
        const int x = win.first[j] + position.x[j] * win.per_position[j];
        at[i] += x * win.image_strides[j];
        // Elements that do not exist get a position far outside of the image.
        if (j < rank) place[i][j] = here ? x : -(1 << 30);
      }
    }
  }
  __device__ __forceinline__ i64 find(const digits& t, int (&move)[rank]) const {
    i64 out = t.x[0] * channel;
#pragma unroll
    for (int j = 0; j < rank; ++j) {
      move[j] = t.x[j + 1] * w.per_tap[j];
      out += move[j] * w.image_strides[j];
    }
    return out;
  }
  __device__ __forceinline__ void advance() {
    tap.add(step, radices::taps(w).of);
    left -= variant::depth;
  }
  __device__ __forceinline__ void copy_to(unsigned to) {
    int move[rank];
    const typename F::bits* const base = from + find(tap, move);
#pragma unroll
    for (int i = 0; i < mine::count; ++i) {
      if (!mine::spread_items::exists(i)) break;
      const bool here = left > 0 && in_image(w, place[i], move);
      copy<F::chunk>(to + F::at + F::place_of(mine::line(i), mine::unit(i)), base + at[i], here ? F::chunk : 0);
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
      int move[rank];
      const typename F::bits* const base = from + find(t, move);
#pragma unroll
      for (int i = 0; i < mine::count; ++i)
        raw[i] |= held_word<F>(load_if(left > e && in_image(w, place[i], move), base + at[i]), e);
      t.advance(radices::taps(w).of);
    }
    advance();
  }
};

// Terms are positions (`Positions`) or taps. Lines are contiguous; if `Checked`, they are taps, the product of both is
// gathered from an image, and elements outside of it are 0.
template <class F, bool Positions, bool Checked>
struct gathered_k {
  using mine = share<F>;
  static_assert(F::by_lines && mine::spread_items::even, "all that a thread copies of a stage has the same lines");
  const window& w;
  const typename F::bits* from;  // address of the thread's line
  int place[rank];
  int lines;  // existing lines, from the thread's first on
  int left;
  // Addresses of numbers that pass through registers are found one after the other, and the one after the last is the
  // first of the next stage: so a thread does not keep an address for each beside those numbers.
  static constexpr bool chained = F::ordinary && mine::lines * mine::units % block_threads == 0;
  static constexpr int places = chained ? 1 : mine::count, item_k = mine::spread_items::step * mine::in_units;
  static_assert(!chained || mine::count * item_k == variant::depth, "items are the terms of a stage");
  digits at[places], step;

  static __device__ __forceinline__ radices radix(const window& w) {
    return Positions ? radices::positions(w) : radices::taps(w);
  }
  __device__ gathered_k(const window& win, const factor& f, const block_scales&, int batch, int first_line,
                        int all_lines, int k, int stage)
      : w(win),
        from(reinterpret_cast<const typename F::bits*>(f.address) + batch * f.batch),
        left(k - stage * variant::depth),
        step(chained ? item_k : variant::depth, radix(win).of) {
    const int s = mine::line(0), in_half = first_line + F::line_of(s),
              line = in_half + (F::is_right(s) ? all_lines : 0);
    lines = all_lines - in_half;
    const i64 stride = F::apart ? f.line : 1;
    if constexpr (Checked) {
      const digits tap(line, radices::taps(win).of);
      from += tap.x[0] * stride;
#pragma unroll
      for (int j = 0; j < 3; ++j) {
        const int x = win.first[j] + tap.x[j + 1] * win.per_tap[j];
        from += x * win.image_strides[j];
        if (j < rank) place[j] = x;
      }
    } else {
      from += line * stride;
    }
#pragma unroll
    for (int i = 0; i < places; ++i) at[i] = digits(stage * variant::depth + mine::unit(i), radix(win).of);
  }
  __device__ __forceinline__ i64 find(const digits& t, bool& inside) const {
    i64 out = 0;
    if constexpr (Checked) {
      int move[rank];
      out = t.x[3] * w.image_strides[3];
#pragma unroll
      for (int j = 0; j < rank; ++j) {
        move[j] = t.x[j] * w.per_position[j];
        out += move[j] * w.image_strides[j];
      }
      inside = inside && in_image(w, place, move);
    } else {
#pragma unroll
      for (int j = 0; j < 4; ++j) out += t.x[j] * w.other_strides[j];
    }
    return out;
  }
  __device__ __forceinline__ void copy_to(unsigned to) {
#pragma unroll
    for (int i = 0; i < mine::count; ++i) {
      if (!mine::spread_items::exists(i)) break;
      bool inside = mine::unit(i) < left;
      const i64 shift = find(at[i], inside);
      const int count = inside ? max(0, min(mine::in_lines, lines)) : 0;
      copy<F::chunk>(to + F::at + F::place_of(mine::line(i), mine::unit(i)), from + shift, count * F::size);
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
        bool inside = mine::spread_items::exists(i) && lines > 0 && mine::unit(i) + e < left;
        const i64 shift = find(t, inside);
        raw[i] |= held_word<F>(load_if(inside, from + shift), e);
        t.advance(radix(w).of);
      }
      mine_at.add(step, radix(w).of);
    }
    left -= variant::depth;
  }
};

}  // namespace troupe::cutlass::kernels::ampere

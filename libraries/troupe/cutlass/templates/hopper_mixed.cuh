// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Products of a narrow first factor and a second factor of 2-byte floats. The first is copied to shared memory in its
// narrow type; each warp reads its lines and widens them in registers, where the tensor cores read them while the next
// terms are widened. Included after hopper.cuh. `variant` also has:
//   first, second   the types of the factors
//   slices          the terms of a stage / 64
//   line_bytes      bytes of a line of the first factor in a stage: 32, 64 or 128, swizzled
//   splits_k        true if all groups have the same rows, and take stages in turn
//   crossed         true if rows of the result, and of the epilogue's operands, are lines of the second factor
//   promoted        the number of instructions after which sums are scaled and added to floats; 0: never
//   scaled_numbers  the number of instructions that share scales, if the widened elements of the first factor are
//                   scaled; 0: they are not scaled
//   scaled_1, scaled_2  true if the factor has scales
namespace troupe::cutlass::kernels::hopper {

// Multiplies two pairs of 2-byte floats.
__device__ __forceinline__ unsigned product(f16, unsigned x, unsigned y) {
  unsigned out;
  asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(out) : "r"(x), "r"(y));
  return out;
}
__device__ __forceinline__ unsigned product(bf16, unsigned x, unsigned y) {
  unsigned out;
  asm("mul.bf16x2 %0, %1, %2;" : "=r"(out) : "r"(x), "r"(y));
  return out;
}

// -- exact conversions of two contiguous elements of a narrow type, in the low bits of a word, to the wide type

__device__ __forceinline__ unsigned widened(e4m3, f16, unsigned x) {
  return detail::halves_of_e4m3(static_cast<unsigned short>(x));
}
__device__ __forceinline__ unsigned widened(e5m2, f16, unsigned x) { return __byte_perm(x, 0, 0x1404); }
__device__ __forceinline__ unsigned widened(i8, f16, unsigned x) {
  // x + 128 are the last bits of the f16 1024 + 128 + x; 1024 + 128 is subtracted.
  unsigned out;
  asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(out) : "r"(__byte_perm(x ^ 0x8080u, 0x64646464u, 0x4140)), "r"(0x64806480u));
  return out;
}
__device__ __forceinline__ unsigned widened(i8, bf16, unsigned x) {
  // 0x4300 | (x & 127) is the bf16 128 + (x & 127); subtract 128, or 256 if x < 0.
  const unsigned both = __byte_perm(x, 0x43434343u, 0x4140);
  unsigned out;
  asm("sub.bf16x2 %0, %1, %2;" : "=r"(out) : "r"(both & 0xff7fff7fu), "r"(both & 0xff80ff80u));
  return out;
}
// A wide number with the same exponent and mantissa is too small by a power of 2. The integer products shift signs and
// magnitudes of both elements to their positions; the masks remove the bits between them.
__device__ __forceinline__ unsigned widened(f4x2, f16, unsigned x) {
  return product(f16{}, (x * 0x01001000u & 0x80008000u) | (x * 0x00200200u & 0x0e000e00u), 0x74007400u);
}
__device__ __forceinline__ unsigned widened(f4x2, bf16, unsigned x) {
  return product(bf16{}, (x * 0x01001000u & 0x80008000u) | (x * 0x00040040u & 0x01c001c0u), 0x7e807e80u);
}
template <class Narrow>
__device__ __forceinline__ unsigned widened(Narrow, bf16, unsigned x) {
  const unsigned wide_pair = widened(Narrow{}, f16{}, x);
  return __byte_perm(detail::bits_of(detail::float_of_half(static_cast<unsigned short>(wide_pair))),
                     detail::bits_of(detail::float_of_half(static_cast<unsigned short>(wide_pair >> 16))), 0x7632);
}

// Loads two consecutive elements of the narrow type.
template <class Narrow>
__device__ __forceinline__ unsigned load_pair(unsigned at) {
  unsigned out;
  asm volatile("{.reg .u16 x;\nld.shared.u16 x, [%1];\ncvt.u32.u16 %0, x;}" : "=r"(out) : "r"(at) : "memory");
  return out;
}
template <>
__device__ __forceinline__ unsigned load_pair<f4x2>(unsigned at) {
  unsigned out;
  asm volatile("ld.shared.u8 %0, [%1];" : "=r"(out) : "r"(at) : "memory");
  return out;
}

// -- pieces: some terms of a group's lines, as operands of the tensor cores

// A stage is multiplied in pieces, each with as many instructions as registers allow.
constexpr bool few_share_scales = variant::promoted > 0 && variant::promoted < 4;
constexpr int most_instructions_per_piece = groups == 2 ? (tile_n > 128 || few_share_scales   ? 2
                                                           : tile_n > 64 || variant::scaled_2 ? 4
                                                                                              : 8)
                                                        : (tile_n > 16 || variant::promoted > 0 ? 2 : 4);
constexpr int instructions_per_piece =
                  variant::slices * 4 < most_instructions_per_piece ? variant::slices * 4 : most_instructions_per_piece,
              pieces = variant::slices * 4 / instructions_per_piece;
template <class T>
constexpr int bytes_of_pair = 2;
template <>
constexpr int bytes_of_pair<f4x2> = 1;

struct piece {
  unsigned a[blocks_m][instructions_per_piece][4];

  // Reads and widens piece `Number` of a stage. A lane has two of each 8 terms, of lines lane / 4 and lane / 4 + 8.
  template <int Number>
  __device__ __forceinline__ void read(unsigned lines, int warp, int lane) {
    constexpr int pair_bytes = bytes_of_pair<variant::first>, eight = 4 * pair_bytes;
    const unsigned line = static_cast<unsigned>(warp * 16 + lane / 4) * variant::line_bytes,
                   swizzle = line / 8 & (variant::line_bytes - 16);
    const unsigned from = lines + line + static_cast<unsigned>(lane % 4 * pair_bytes);
#pragma unroll
    for (int i = 0; i < instructions_per_piece; ++i) {
      const int byte = (Number * instructions_per_piece + i) * 2 * eight;
      const unsigned at = from + ((static_cast<unsigned>(byte) & ~15u) ^ swizzle) + byte % 16;
#pragma unroll
      for (int m = 0; m < blocks_m; ++m)
#pragma unroll
        for (int r = 0; r < 4; ++r)
          a[m][i][r] = load_pair<variant::first>(at + (m * 64 + r % 2 * 8) * variant::line_bytes + r / 2 * eight);
    }
#pragma unroll
    for (int m = 0; m < blocks_m; ++m)
#pragma unroll
      for (int i = 0; i < instructions_per_piece; ++i)
#pragma unroll
        for (int r = 0; r < 4; ++r) a[m][i][r] = widened(variant::first{}, variant::second{}, a[m][i][r]);
  }
  // Issues instructions [From, To) of the piece; `second` is the address of the second factor in the stage.
  template <int Number, int From, int To>
  __device__ __forceinline__ void multiply(sums (&d)[blocks_m][sums_per_thread], unsigned second, bool add) {
    const unsigned long long all = descriptor<variant::by_lines_2>(second, depth * 128);
    begin_products();
#pragma unroll
    for (int i = From; i < To; ++i) {
      constexpr int instructions_per_slice = 4;
      const int at = Number * instructions_per_piece + i;
      // Addresses are in units of 16 bytes.
      const unsigned long long b =
          all + (variant::by_lines_2 ? at * 16 * 128
                                     : at / instructions_per_slice * tile_n * 128 + at % instructions_per_slice * 32) /
                    16;
#pragma unroll
      for (int m = 0; m < blocks_m; ++m) variant::multiply(d[m], a[m][i], b, i > From || add);
    }
    commit_products();
  }
};

// -- scales, which a thread reads one piece ahead. A unit is the terms that are scaled together.

constexpr int instructions_per_unit = variant::promoted > 0 ? variant::promoted  // instructions that share scales
                                      : variant::scaled_numbers > 0 ? variant::scaled_numbers
                                                                    : instructions_per_piece;
constexpr int units = instructions_per_unit < instructions_per_piece ? instructions_per_piece / instructions_per_unit
                                                                     : 1;  // units of a piece
constexpr int pieces_per_unit =
    instructions_per_unit > instructions_per_piece ? instructions_per_unit / instructions_per_piece : 1;
constexpr int unit_k = instructions_per_unit * 16, piece_k = instructions_per_piece * 16;

// Returns the number of the thread's i-th line in block m of 64 lines of the first factor.
__device__ __forceinline__ int line_of(const consumer& me, const work& w, int m, int i) {
  const int in_block = me.warp * 16 + me.lane / 4 + i * 8, first = me.rows_from(w, m),
            all = variant::crossed ? me.p.n : me.p.m;
  // If the factor has two halves, a block has 32 lines of the left half, then 32 of the right.
  if constexpr (variant::crossed && kernel_epilogue::paired)
    return min(first / 2 + in_block % 32, all - 1) + in_block / 32 * all;
  else
    return min(first + in_block, all - 1);
}

// The scales of the first factor: pointers to those of the thread's lines, and the scales of the next piece.
struct line_scales {
  using type = variant::scale_type_1;
  const typename type::bits* lines[blocks_m][2];
  typename type::bits next[units][blocks_m][2];

  __device__ __forceinline__ void begin(const consumer& me, const work& w, int piece) {
    const block_scales& s = me.p.first_scales;
#pragma unroll
    for (int m = 0; m < blocks_m; ++m)
#pragma unroll
      for (int i = 0; i < 2; ++i)
        lines[m][i] = reinterpret_cast<const typename type::bits*>(s.address) + w.batch * s.batch +
                      static_cast<i64>(line_of(me, w, m, i) / s.lines) * s.line;
    read(me, piece);
  }
  __device__ __forceinline__ void read(const consumer& me, int piece) {
    const block_scales& s = me.p.first_scales;
#pragma unroll
    for (int u = 0; u < units; ++u) {
      const i64 at = min(piece * piece_k + u * unit_k, me.p.k - 1) / s.terms * s.term;
#pragma unroll
      for (int m = 0; m < blocks_m; ++m)
#pragma unroll
        for (int i = 0; i < 2; ++i) next[u][m][i] = lines[m][i][at];
    }
  }
};

// Multiplies the widened elements of a piece by their scales.
__device__ __forceinline__ void scale_numbers(piece& x, const line_scales& scales) {
#pragma unroll
  for (int m = 0; m < blocks_m; ++m)
#pragma unroll
    for (int u = 0; u < units; ++u)
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const float by = static_cast<float>(line_scales::type::load(scales.next[u][m][i]));
        const unsigned both = two_of<variant::second>(by, by);
#pragma unroll
        for (int j = u * instructions_per_piece / units; j < (u + 1) * instructions_per_piece / units; ++j)
#pragma unroll
          for (int r = i; r < 4; r += 2) x.a[m][j][r] = product(variant::second{}, x.a[m][j][r], both);
      }
}

// -- sums

// The buffer of a piece, and its number in the stage.
template <int Iteration, bool GoesOn>
struct iteration {
  static constexpr int buffer = Iteration % 2, number = Iteration % pieces;
  static constexpr bool goes_on = GoesOn;  // true if the next piece is read meanwhile
};

// Multiplies piece after piece, and reads one piece ahead. The loop's body has no branches that depend on the number of
// pieces, so that the work of the tensor cores is not interrupted.
struct mixed_loop {
  static constexpr int between = variant::splits_k ? groups : 1;  // from one stage of this group to its next

  const consumer& me;
  pipeline stage;
  const work& w;
  piece buffers[2];
  line_scales scales;
  int at;           // the stage that is read
  int now = 0;      // pieces so far
  int before = -1;  // the last slot that is not yet released

  __device__ __forceinline__ mixed_loop(const consumer& c, const pipeline& s, const work& of)
      : me(c), stage(s), w(of), at(of.first) {
    if constexpr (variant::splits_k) {
      stage.skip(me.group);
      at += me.group;
    }
    if constexpr (variant::scaled_1) scales.begin(me, w, at * pieces);
    begin();
  }
  // Calls `each(iteration)` for each piece.
  template <class Each>
  __device__ __forceinline__ void run(const Each& each) {
    int left = variant::splits_k ? (w.steps - me.group + groups - 1) / groups : w.steps;
    if constexpr (pieces == 1) {
      if (left % 2 != 0) {
        each(iteration<0, false>{});
        wait_for_products<0>();
        before = stage.slot;
        if (left == 1) return;
        advance();
        begin();
      }
      left /= 2;
    }
    for (; left > 1; --left) run_iterations<0, false>(each);
    run_iterations<0, true>(each);
    before = stage.slot;
  }
  template <class Iteration>
  __device__ __forceinline__ void add(Iteration t, sums (&d)[blocks_m][sums_per_thread]) {
    buffers[Iteration::buffer].template multiply<Iteration::number, 0, instructions_per_piece>(d, stage.second(),
                                                                                               now > 0);
    go_on(t);
  }
  // Adds a piece with scales: the sums of each unit are computed in `part`, scaled, and added to `d`.
  template <class Iteration>
  __device__ __forceinline__ void add_scaled(Iteration t, sums (&d)[blocks_m][sums_per_thread],
                                             sums (&part)[blocks_m][sums_per_thread]) {
    const int piece = at * pieces + Iteration::number, following = next_after<Iteration::number>();
    if constexpr (units == 1) {
      buffers[Iteration::buffer].template multiply<Iteration::number, 0, instructions_per_piece>(
          part, stage.second(), Iteration::number % pieces_per_unit != 0);
      go_on(t);
      if constexpr ((Iteration::number + 1) % pieces_per_unit != 0) return;
      wait_for_products<0>();
      scale<0>(d, part, piece);
    } else {
      const unsigned from = stage.second();
      add_unit<Iteration, 0>(part, from);
      go_on(t);
      wait_for_products<0>();
      scale<0>(d, part, piece);
      add_units<Iteration, 1>(d, part, from, piece);
    }
    if constexpr (variant::scaled_1) scales.read(me, following);
  }

 private:
  __device__ __forceinline__ void begin() {
    wait(stage.full + stage.slot * 8, stage.phase);
    read<0, 0>();
  }
  __device__ __forceinline__ void advance() {
    if constexpr (between == 1)
      stage.advance();
    else
      stage.skip(between);
    at += between;
  }
  // Returns the number of the piece after piece `Number` of the stage that is read.
  template <int Number>
  __device__ __forceinline__ int next_after() const {
    return (Number + 1 < pieces ? at : at + between) * pieces + (Number + 1) % pieces;
  }
  // Reads piece `Number` of the stage to a buffer; it is multiplied next.
  template <int Buffer, int Number>
  __device__ __forceinline__ void read() {
    buffers[Buffer].template read<Number>(me.rows_of(stage), me.warp, me.lane);
    if constexpr (variant::scaled_numbers > 0) {
      scale_numbers(buffers[Buffer], scales);
      if constexpr ((Number + 1) % pieces_per_unit == 0) scales.read(me, next_after<Number>());
    }
  }
  template <int Iteration, bool Last, class Each>
  __device__ __forceinline__ void run_iterations(const Each& each) {
    constexpr int iterations = pieces > 1 ? pieces : 2;
    each(iteration<Iteration, (!Last || Iteration + 1 < iterations)>{});
    if constexpr (Iteration + 1 < iterations) run_iterations<Iteration + 1, Last>(each);
  }
  // Waits until the previous piece is multiplied, and reads the next piece.
  template <class Iteration>
  __device__ __forceinline__ void go_on(Iteration) {
    ++now;
    wait_for_products<1>();
    if (Iteration::number == 0 && before >= 0) me.release(stage.empty, before);
    if constexpr (Iteration::goes_on) {
      constexpr int following = (Iteration::number + 1) % pieces;
      if constexpr (following == 0) {
        before = stage.slot;
        advance();
        wait(stage.full + stage.slot * 8, stage.phase);
      }
      read<1 - Iteration::buffer, following>();
    }
  }
  template <class Iteration, int Unit>
  __device__ __forceinline__ void add_unit(sums (&part)[blocks_m][sums_per_thread], unsigned from) {
    buffers[Iteration::buffer]
        .template multiply<Iteration::number, Unit * instructions_per_unit, (Unit + 1) * instructions_per_unit>(
            part, from, false);
  }
  template <class Iteration, int Unit>
  __device__ __forceinline__ void add_units(sums (&d)[blocks_m][sums_per_thread],
                                            sums (&part)[blocks_m][sums_per_thread], unsigned from, int piece) {
    if constexpr (Unit < units) {
      add_unit<Iteration, Unit>(part, from);
      wait_for_products<0>();
      scale<Unit>(d, part, piece);
      add_units<Iteration, Unit + 1>(d, part, from, piece);
    }
  }
  template <int Unit>
  __device__ __forceinline__ void scale(sums (&d)[blocks_m][sums_per_thread], sums (&part)[blocks_m][sums_per_thread],
                                        int piece) {
    number per_column[variant::column_scales];
    if constexpr (variant::scaled_2) me.scales_of_columns(per_column, w, 0, piece * piece_k + Unit * unit_k);
#pragma unroll
    for (int m = 0; m < blocks_m; ++m) {
      number per_row[2] = {1, 1};
      if constexpr (variant::scaled_1) {
#pragma unroll
        for (int i = 0; i < 2; ++i) per_row[i] = static_cast<number>(line_scales::type::load(scales.next[Unit][m][i]));
      }
#pragma unroll
      for (int j = 0; j < sums_per_thread; ++j) {
        hold(part[m][j]);
        number by = per_row[j / 2 % 2];
        if constexpr (variant::scaled_2) by *= per_column[variant::column_scales == 1 ? 0 : j / 4 * 2 + j % 2];
        d[m][j] += part[m][j] * by;
      }
    }
  }
};

// Computes the sums of a tile with at least one stage for this group.
template <class Issued>
__device__ __forceinline__ void add_stages(const consumer& me, sums (&d)[blocks_m][sums_per_thread],
                                           const pipeline& stage, const work& w, const Issued& issued) {
  mixed_loop all(me, stage, w);
  if constexpr (variant::promoted > 0) {
    sums part[blocks_m][sums_per_thread];
    clear(d);
    all.run([&](auto iteration) { all.add_scaled(iteration, d, part); });
  } else {
    all.run([&](auto iteration) { all.add(iteration, d); });
  }
  issued();
  wait_for_products<0>();
  me.release(all.stage.empty, all.before);
  hold(d);
}

// Computes the sums of a tile. `issued()` is called when all work of the tensor cores is issued.
template <class Issued>
__device__ __forceinline__ void sum_mixed(const consumer& me, sums (&d)[blocks_m][sums_per_thread], pipeline& stage,
                                          const work& w, const Issued& issued) {
  if constexpr (variant::splits_k) {
    if (me.group < w.steps)
      add_stages(me, d, stage, w, issued);
    else
      clear(d);
  } else {
    add_stages(me, d, stage, w, issued);
  }
  stage.skip(w.steps);
}

// Adds the sums of groups that split k. Returns true in the first group: there, `d` become the sums of all groups.
__device__ __forceinline__ bool gather(const consumer& me, sums (&d)[blocks_m][sums_per_thread]) {
  constexpr int barrier = 5;  // lower numbers are barriers of single groups
  constexpr unsigned group_bytes = out_bytes / groups;
  static_assert(!variant::splits_k || (blocks_m == 1 && group_bytes >= sums_per_thread * group_threads * sizeof(sums)));
  sums* const mine = reinterpret_cast<sums*>(__cvta_shared_to_generic(me.out)) + me.thread;
  if (me.group > 0)
#pragma unroll
    for (int j = 0; j < sums_per_thread; ++j) mine[j * group_threads] = d[0][j];
  synchronize(barrier, groups * group_threads);
  if (me.group == 0)
#pragma unroll
    for (int g = 1; g < groups; ++g)
#pragma unroll
      for (int j = 0; j < sums_per_thread; ++j) d[0][j] += mine[g * (group_bytes / sizeof(sums)) + j * group_threads];
  synchronize(barrier, groups * group_threads);
  return me.group == 0;
}

// -- crossed results: their rows are lines of the second factor

template <bool Inside>
__device__ __forceinline__ void write_crossed_tile(const consumer& me, const sums (&d)[blocks_m][sums_per_thread],
                                                   const work& w) {
  constexpr int width = kernel_epilogue::paired ? 32 : 64;
  sums* const staging = reinterpret_cast<sums*>(__cvta_shared_to_generic(me.out));
  const int warp_row = me.warp * 16;
#pragma unroll
  for (int m = 0; m < blocks_m; ++m) {
    const int column = me.rows_from(w, m) / (64 / width);
#pragma unroll
    for (int c = 0; c < tile_n / crossed_lines; ++c) {
      me.synchronize_group();
#pragma unroll
      for (int j = 0; j < crossed_lines / 8; ++j) {
        const sums* const x = &d[m][(c * (crossed_lines / 8) + j) * 4];
        sums* const to = staging + (j * 8 + me.lane % 4 * 2) * crossed_pitch + warp_row + me.lane / 4;
        to[0] = x[0], to[crossed_pitch] = x[1], to[8] = x[2], to[crossed_pitch + 8] = x[3];
      }
      me.synchronize_group();
      if (warp_row >= crossed_lines) continue;
      const int row = me.column_of(w) + c * crossed_lines + warp_row;
      const results::rows r = results::rows_of(w, row, column, row / 16);
      results::reduced<results::lane_rows<width>::passes> parts;
      parts.start();
      results::finish<results::layout<false>, Inside, width, crossed_pitch>(me.p, staging + warp_row * crossed_pitch,
                                                                            32, me.lane, r, column, parts);
      results::finish_parts<results::layout<false>, width>(me.p, me.lane, r, parts);
    }
  }
}
__device__ __forceinline__ void write_crossed(const consumer& me, const sums (&d)[blocks_m][sums_per_thread],
                                              const work& w) {
  constexpr int columns = blocks_m * (kernel_epilogue::paired ? 32 : 64);
  if (me.p.m - me.column_of(w) >= tile_n && me.p.n - me.rows_from(w, 0) / (kernel_epilogue::paired ? 2 : 1) >= columns)
    write_crossed_tile<true>(me, d, w);
  else
    write_crossed_tile<false>(me, d, w);
}

}  // namespace troupe::cutlass::kernels::hopper

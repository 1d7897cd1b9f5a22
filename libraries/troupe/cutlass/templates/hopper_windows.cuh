// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Convolutions by the tensor cores of Hopper GPUs: the accelerator gathers elements of the image, `depth` channels of
// as many positions as a box has. The strides of positions over the image are in the tensor map: see
// variants/convolutions/window_maps.cpp. A copy names a position by the image coordinates of the filter element with the lowest
// indexes, and another filter element by its offset from that one.
//
// For y and dx, a stage is one element of the filter and `depth` channels of the image and of the filters; elements
// beyond the last channel are 0. For dfilters, a stage is `depth` positions.
namespace troupe::cutlass::kernels::hopper {

// The offsets of a filter element along all axes in one register, with as many bits for each as the accelerator reads.
struct offsets {
  static constexpr int bits = 16 / rank;
  unsigned all = 0;
  __device__ __forceinline__ void set(int j, int offset) {
    all |= (static_cast<unsigned>(offset) & ((1u << bits) - 1)) << (j * bits);
  }
  __device__ __forceinline__ unsigned short operator[](int j) const {
    return static_cast<unsigned short>(all >> (j * bits) & ((1u << bits) - 1));
  }
};

// -- copies of gathered elements and of filters; other copies are in hopper_instructions.cuh

__device__ __forceinline__ void gather(unsigned to, const tensor_map* map, int channel, const int (&at)[rank],
                                       int image, const offsets& o, unsigned barrier) {
  if constexpr (rank == 1)
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], "
        "[%2], {%6};" ::"r"(to),
        "l"(map), "r"(barrier), "r"(channel), "r"(at[0]), "r"(image), "h"(o[0])
        : "memory");
  else if constexpr (rank == 2)
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, "
        "%6}], [%2], {%7, %8};" ::"r"(to),
        "l"(map), "r"(barrier), "r"(channel), "r"(at[0]), "r"(at[1]), "r"(image), "h"(o[0]), "h"(o[1])
        : "memory");
  else
    asm volatile(
        "cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, "
        "%6, %7}], [%2], {%8, %9, %10};" ::"r"(to),
        "l"(map), "r"(barrier), "r"(channel), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(image), "h"(o[0]), "h"(o[1]),
        "h"(o[2])
        : "memory");
}
__device__ __forceinline__ void gather(unsigned to, const tensor_map* map, int channel, const int (&at)[rank],
                                       int image, const offsets& o, unsigned barrier, unsigned short mask) {
  if constexpr (rank == 1)
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
        "[%1, {%3, %4, %5}], [%2], {%6}, %7;" ::"r"(to),
        "l"(map), "r"(barrier), "r"(channel), "r"(at[0]), "r"(image), "h"(o[0]), "h"(mask)
        : "memory");
  else if constexpr (rank == 2)
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
        "[%1, {%3, %4, %5, %6}], [%2], {%7, %8}, %9;" ::"r"(to),
        "l"(map), "r"(barrier), "r"(channel), "r"(at[0]), "r"(at[1]), "r"(image), "h"(o[0]), "h"(o[1]), "h"(mask)
        : "memory");
  else
    asm volatile(
        "cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
        "[%1, {%3, %4, %5, %6, %7}], [%2], {%8, %9, %10}, %11;" ::"r"(to),
        "l"(map), "r"(barrier), "r"(channel), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(image), "h"(o[0]), "h"(o[1]),
        "h"(o[2]), "h"(mask)
        : "memory");
}
// Copies filters: their axes are channel, width, height, depth and filter.
__device__ __forceinline__ void load(unsigned to, const tensor_map* map, int channel, const int (&tap)[3], int filter,
                                     unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, %6, %7}], "
      "[%2];" ::"r"(to),
      "l"(map), "r"(barrier), "r"(channel), "r"(tap[0]), "r"(tap[1]), "r"(tap[2]), "r"(filter)
      : "memory");
}
__device__ __forceinline__ void load(unsigned to, const tensor_map* map, int channel, const int (&tap)[3], int filter,
                                     unsigned barrier, unsigned short mask) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%3, "
      "%4, %5, %6, %7}], [%2], %8;" ::"r"(to),
      "l"(map), "r"(barrier), "r"(channel), "r"(tap[0]), "r"(tap[1]), "r"(tap[2]), "r"(filter), "h"(mask)
      : "memory");
}

// -- coordinates in the image

// Returns the offset in the image of a filter element from the element with the lowest indexes.
__device__ __forceinline__ offsets offsets_of(const convolution_arguments& convolution, const int (&tap)[3]) {
  offsets out;
#pragma unroll
  for (int j = 0; j < rank; ++j) {
    const int step = convolution.per_tap[j], from = step < 0 ? tap[j] - (convolution.taps[j] - 1) : tap[j];
    out.set(j, from * step);
  }
  return out;
}
// Computes the image coordinates of the filter element with the lowest indexes at a position.
__device__ __forceinline__ void coordinates_of(const convolution_arguments& convolution, const digits& position,
                                               int (&at)[rank]) {
#pragma unroll
  for (int j = 0; j < rank; ++j) {
    const int step = convolution.per_tap[j],
              lowest = convolution.first[j] + (step < 0 ? (convolution.taps[j] - 1) * step : 0);
    at[j] = lowest + position.x[j] * convolution.per_position[j];
  }
}
// The first channel and image of a product of the batch.
struct origin {
  int channel, image;
  __device__ origin(const convolution_arguments& w, const factor& f, int batch)
      : channel(w.by_images != 0 ? 0 : batch * static_cast<int>(f.batch)), image(w.by_images != 0 ? batch : 0) {}
};

// Iterates over the elements of a filter, and over blocks of `depth` channels of each, stage by stage.
struct filter_iterator {
  int blocks, block, tap[3];
  __device__ filter_iterator(const convolution_arguments& convolution, int stage)
      : blocks((convolution.channels + depth - 1) / depth) {
    block = stage % blocks, stage /= blocks;
    tap[0] = stage % convolution.taps[0], stage /= convolution.taps[0];
    tap[1] = stage % convolution.taps[1], tap[2] = stage / convolution.taps[1];
  }
  __device__ __forceinline__ void advance(const convolution_arguments& convolution) {
    if (++block < blocks) return;
    block = 0;
    if (++tap[0] < convolution.taps[0]) return;
    tap[0] = 0;
    if (++tap[1] < convolution.taps[1]) return;
    tap[1] = 0, ++tap[2];
  }
};

// -- the thread that copies

// The pieces of a tile's factors that this block copies, for itself and other blocks of the cluster: see produce() in
// hopper.cuh.
struct cluster_pieces {
  static constexpr int piece_1 = tile_m / cluster_n, piece_2 = tile_n / cluster_m;
  int in_m, in_n;
  unsigned short beside, above;
  __device__ explicit cluster_pieces(unsigned in_cluster)
      : in_m(static_cast<int>(in_cluster) % cluster_m), in_n(static_cast<int>(in_cluster) / cluster_m) {
    unsigned blocks = 0;
#pragma unroll
    for (int i = 0; i < cluster_n; ++i) blocks |= 1u << (in_m + i * cluster_m);
    beside = static_cast<unsigned short>(blocks);
    above = static_cast<unsigned short>(((1u << cluster_m) - 1) << (in_n * cluster_m));
  }
  __device__ int row(const work& w) const { return (w.tile_row + in_m) * tile_m + in_n * piece_1; }
  __device__ int column(const work& w) const { return (w.tile_column + in_n) * out_n + in_m * piece_2; }
  __device__ unsigned first(const pipeline& stage) const { return stage.first() + in_n * piece_1 * 128; }
  __device__ unsigned second(const pipeline& stage) const { return stage.second() + in_m * piece_2 * 128; }
};

// The thread that copies, for y and dx.
__device__ __forceinline__ void produce_images(const kernel_epilogue::all& p, const convolution_arguments& convolution,
                                               pipeline stage, schedule todo, unsigned in_cluster) {
  const cluster_pieces mine(in_cluster);
  work w;
  while (todo.next(w)) {
    const origin from(convolution, p.first, w.batch);
    const digits position(mine.row(w), radices::positions(convolution).of);
    int at[rank];
    coordinates_of(convolution, position, at);
    const int column = mine.column(w), item = convolution.by_images != 0 ? 0 : w.batch * convolution.items_of_group;
    filter_iterator element(convolution, w.first);
    for (int s = 0; s < w.steps; ++s) {
      wait(stage.empty + stage.slot * 8, stage.phase ^ 1);
      const unsigned full = stage.full + stage.slot * 8;
      expect(full, stage_bytes);
      const int channel = element.block * depth;
      const offsets o = offsets_of(convolution, element.tap);
      if constexpr (cluster_n > 1)
        gather(mine.first(stage), &p.first_map, from.channel + channel, at, from.image + position.x[3], o, full,
               mine.beside);
      else
        gather(mine.first(stage), &p.first_map, from.channel + channel, at, from.image + position.x[3], o, full);
      const auto copy_filters = [&](unsigned to, int c, int filter) {
        if constexpr (cluster_m > 1)
          load(to, &p.second_map, c, element.tap, filter, full, mine.above);
        else
          load(to, &p.second_map, c, element.tap, filter, full);
      };
      if constexpr (variant::by_lines_2) {
#pragma unroll
        for (int i = 0; i < cluster_pieces::piece_2 / 64; ++i)
          copy_filters(mine.second(stage) + i * depth * 128, column + i * 64, item + channel);
      } else {
        copy_filters(mine.second(stage), channel, item + column);
      }
      element.advance(convolution);
      stage.advance();
    }
  }
}

// The thread that copies, for dfilters.
__device__ __forceinline__ void produce_filters(const kernel_epilogue::all& p, const convolution_arguments& convolution,
                                                pipeline stage, schedule todo, unsigned in_cluster) {
  constexpr int boxes_2 = (cluster_pieces::piece_2 + 63) / 64;
  const cluster_pieces mine(in_cluster);
  const radices positions = radices::positions(convolution);
  static_assert(!variant::k_is_positions || depth == 64, "see convolution_arguments::sixty_four");
  work w;
  while (todo.next(w)) {
    const origin from(convolution, p.second, w.batch);
    // For each 64 columns, one register holds the number of the 64 channels and the offsets of the filter element.
    unsigned lines[boxes_2];
#pragma unroll
    for (int i = 0; i < boxes_2; ++i) {
      const int column = mine.column(w) + i * 64;
      const digits tap(column, radices::taps(convolution).of);
      const int tap_position[3] = {tap.x[1], tap.x[2], tap.x[3]};
      // Beyond the last channel the accelerator fills in zeros.
      const unsigned block = column < p.n ? static_cast<unsigned>(from.channel + tap.x[0]) / 64 : 0xffffu;
      lines[i] = block << 16 | offsets_of(convolution, tap_position).all;
    }
    digits position(w.first * depth, positions.of);
    const int batch = p.first.batch == 0 ? 0 : w.batch;
    for (int s = w.first; s < w.first + w.steps; ++s) {
      wait(stage.empty + stage.slot * 8, stage.phase ^ 1);
      const unsigned full = stage.full + stage.slot * 8;
      expect(full, stage_bytes);
      copy<true, cluster_pieces::piece_1>(mine.first(stage), &p.first_map, s * depth, mine.row(w), batch, full,
                                          cluster_n > 1, mine.beside);
      int at[rank];
      coordinates_of(convolution, position, at);
#pragma unroll
      for (int i = 0; i < boxes_2; ++i) {
        const unsigned to = mine.second(stage) + i * depth * 128;
        const int channel = static_cast<int>(lines[i] >> 16) * 64;
        const offsets o{lines[i] & 0xffffu};
        if constexpr (cluster_m > 1)
          gather(to, &p.second_map, channel, at, position.x[3], o, full, mine.above);
        else
          gather(to, &p.second_map, channel, at, position.x[3], o, full);
      }
      position.add(convolution.sixty_four, positions.of);
      stage.advance();
    }
  }
}

template <class Map>
__device__ __forceinline__ Map map_of(const convolution_arguments& convolution) {
  if constexpr (variant::strided)
    return Map{convolution};
  else
    return Map{};
}
__device__ __forceinline__ void run_block(const kernel_epilogue::all& p, const convolution_arguments& convolution) {
  run_block(p, map_of<row_map>(convolution),
            [&](const kernel_epilogue::all& all, pipeline stage, const schedule& todo, unsigned in_cluster) {
              if constexpr (variant::k_is_positions)
                produce_filters(all, convolution, stage, todo, in_cluster);
              else
                produce_images(all, convolution, stage, todo, in_cluster);
            });
}

}  // namespace troupe::cutlass::kernels::hopper

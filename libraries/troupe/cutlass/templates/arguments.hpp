// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Arguments of a kernel. Compiled by the engine's compiler and at run time, so it includes nothing and has built-in
/// types only: a kernel reports the size of this structure, and where its last parts begin.
namespace troupe::cutlass::kernels {

/// A CUtensorMap.
struct alignas(64) tensor_map {
  unsigned long long words[16];
};

/// A matrix or a batch of them: its address, and the strides in elements from row to row, from column to column, and
/// from matrix to matrix. Rows and columns are those of the kernel, which may compute the transpose.
struct place {
  unsigned long long address;
  long long row, column, batch;
};

/// A factor: lines of terms. Those of the first are rows of the product, those of the second its columns.
struct factor {
  unsigned long long address;
  long long line, term, batch;
};

/// The scales of a factor's blocks, with the strides in elements from block to block.
struct block_scales {
  unsigned long long address;
  long long line, term, batch;
  int lines, terms;  ///< extents of a block
};

/// A convolution as a product. Spatial axes are width, height and depth; absent ones have extents of 1. A position is a
/// position of the filter in the image: positions are numbered from width to height, depth and image. A tap is one
/// channel of one element of the filter: taps are numbered from channel to width, height and depth. The element that a
/// tap of a position is multiplied with is in the gathered image at first + position * per_position + tap * per_tap,
/// and is 0 outside.
struct window {
  int positions[3], taps[3], channels;
  int by_images;       ///< not 0: products of a batch are images, otherwise groups of channels
  int items_of_group;  ///< stride of filters from one group to the next
  int sixty_four[4];   ///< positions: their width, height, depth and images
  int image[3];        ///< extents of the gathered image
  int first[3], per_position[3], per_tap[3];
  long long image_strides[4];           ///< width, height, depth, image
  long long other_strides[4];           ///< of the other factor's terms: positions as above, or taps: filter, width ...
  long long result_strides[4];          ///< of rows of the result that are positions
  long long row_strides[4], first_row;  ///< rows of the epilogue's operands
};

struct fixed_part {
  tensor_map first_map, second_map, result_map;
  factor first, second;
  place result;
  block_scales first_scales, second_scales;
  int m, n, k, batch;
  int tiles_m, tiles_n;
  int band, along_n;       ///< rows of tiles that are computed together; columns, if `along_n` is not 0
  int whole_tiles;         ///< computed by one block each; the rest are divided among all blocks along k
  void* partial_sums;      ///< of divided tiles
  unsigned* arrivals;      ///< counters of divided tiles, see divided_tiles.cuh; 0 before and after a launch
  void* reductions;        ///< partial results of reductions
  int parts;               ///< the most parts of a divided tile
  int stage_bytes;         ///< copied for a stage: a block copies no rows or columns that do not exist
  const int* group_sizes;  ///< numbers of rows of `batch` groups
  int* wrong_group;        ///< where the first wrong group is written: its number, its size, and the rows left for it
  int packed;              ///< not 0: rows of groups follow each other, and `m` is the number of all
  int sharers;             ///< blocks, or clusters of them, that divided tiles are divided among
  int beside;              ///< not 0: the kernel before it writes nothing that this one reads or writes
};

/// Numbers have the type in which the epilogue is computed. There is at least one of each.
template <class Number, int Memory, int Numbers>
struct arguments : fixed_part {
  place memory[Memory];
  Number numbers[Numbers];
};
template <class Extra, class Number, int Memory, int Numbers>
struct arguments_with : Extra {
  arguments<Number, Memory, Numbers> all;
};

}  // namespace troupe::cutlass::kernels

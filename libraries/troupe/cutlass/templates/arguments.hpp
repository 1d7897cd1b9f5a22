// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Arguments of a kernel. Compiled by the host compiler and by NVRTC, so this file includes nothing and uses only
/// built-in types. `troupe_layout`, which variants/hopper_variant.cpp and others define, reports the sizes in device
/// code.
namespace troupe::cutlass::kernels {

/// A CUtensorMap, the tensor memory accelerator's description of a tensor.
struct alignas(64) tensor_map {
  unsigned long long words[16];
};

/// A matrix, or a batch of matrices: the address, and the strides in elements between rows, columns and matrices. Rows
/// and columns are those that the kernel computes; it may compute the transpose.
struct matrix {
  unsigned long long address;
  long long row, column, batch;
};

/// A factor: lines of terms. Lines of the first factor are rows of the product, lines of the second its columns.
/// Strides in elements.
struct factor {
  unsigned long long address;
  long long line, term, batch;
};

/// The scales of a factor's blocks, with the strides in elements between blocks along lines and terms, and between
/// matrices.
struct block_scales {
  unsigned long long address;
  long long line, term, batch;
  int lines, terms;  ///< extents of a block
};

/// A convolution as a product. Spatial axes are width, height and depth; absent ones have extents of 1. A position is a
/// position of the filter in the image; positions are numbered along width first, then height, depth and image. A tap
/// is one channel of one element of the filter; taps are numbered along the channels first, then width, height and
/// depth. At a position, a tap is multiplied by the element of the gathered image with the coordinates
/// first + position * per_position + tap * per_tap; elements outside the image are 0.
struct convolution_arguments {
  int positions[3], taps[3], channels;  ///< number of positions and of filter elements along each spatial axis
  int by_images;                        ///< not 0: products of a batch are images, otherwise groups of channels
  int items_of_group;                   ///< stride between groups of filters, in strides between filters
  int sixty_four[4];                    ///< the number 64 as digits of a position: width, height, depth, images
  int image[3];                         ///< extents of the gathered image
  int first[3], per_position[3], per_tap[3];
  long long image_strides[4];           ///< width, height, depth, image
  long long other_strides[4];           ///< terms of the other factor: positions, or taps (filter, width, ...)
  long long result_strides[4];          ///< the result, if its rows are positions
  long long row_strides[4], first_row;  ///< a position's row in the epilogue: first_row + position * row_strides
};

/// The arguments that kernels of all epilogues have.
struct fixed_arguments {
  tensor_map first_map, second_map, result_map;
  factor first, second;
  matrix result;
  block_scales first_scales, second_scales;
  int m, n, k, batch;
  int tiles_m, tiles_n;
  int band, along_n;       ///< rows of tiles that are computed together; columns of tiles, if `along_n` is not 0
  int undivided_tiles;     ///< number of tiles that are computed by one block; the others are divided along k
  void* partial_sums;      ///< sums of the parts of divided tiles
  unsigned* arrivals;      ///< counters of divided tiles, see divided_tiles.cuh; 0 before and after a launch
  void* reductions;        ///< partial results of reductions
  int parts;               ///< largest number of parts of a divided tile
  int stage_bytes;         ///< bytes copied for a stage, without rows and columns that do not exist
  const int* group_sizes;  ///< number of rows of each of `batch` groups
  int* wrong_group;  ///< receives the first group of a wrong size: its number, its size, the rows remaining for it
  int packed;        ///< not 0: groups are consecutive rows of one matrix, and `m` counts the rows of all groups
  int sharers;       ///< blocks, or clusters of blocks, that divided tiles are divided among
  int independent;   ///< not 0: the previous kernel writes nothing that this one reads or writes
};

/// All arguments of a product with an epilogue. `Number` is the type in which the epilogue is computed; `Memory` and
/// `Numbers` are at least 1.
template <class Number, int Memory, int Numbers>
struct arguments : fixed_arguments {
  matrix memory[Memory];
  Number numbers[Numbers];
};
/// The arguments of a product, preceded by `Extra`.
template <class Extra, class Number, int Memory, int Numbers>
struct arguments_with : Extra {
  arguments<Number, Memory, Numbers> all;
};

}  // namespace troupe::cutlass::kernels

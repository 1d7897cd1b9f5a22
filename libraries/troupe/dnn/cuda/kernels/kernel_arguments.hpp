// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/windows/geometry.hpp>

/// Arguments of the kernels of dnn: structs of plain data that have the same layout on host and device.
namespace troupe::dnn::kernel_arguments {

constexpr std::int64_t divided_up(std::int64_t n, std::int64_t by) noexcept { return (n + by - 1) / by; }

/// Threads of a block that combines the elements of a set.
inline constexpr unsigned set_threads = 128;
inline constexpr int most_operations = 64, most_operands = 20, most_axes = 8, most_sequences = 4;

/// An elementwise_kernel::operation in plain numbers.
struct operation {
  enum what : std::uint8_t { read, number, apply, round, write, random, reduce, multiply_add, position, read_at };
  enum reducing : std::uint8_t { values, products, moments, squares };
  std::uint8_t what, function, type, operand;  ///< of reduce: function is a reduction_kind, type is `reducing`
  std::uint8_t from[3], is_of_set;             ///< is_of_set: for set kernels, see set_kernel
  double value;
};
struct operand {
  void* memory;
  std::uint64_t type;
  std::int64_t strides[most_axes];
};
/// An elementwise_kernel::sequence in plain numbers: a sequence of random numbers.
struct sequence {
  std::uint64_t seed, offset;
  std::uint32_t kind, limit;   ///< a random_kind, and its bernoulli_limit
  const std::uint32_t* words;  ///< the seed in memory, see random_seed; nullptr if `seed` is the seed
  std::int64_t word_count, word_stride;
};
struct order_barrier_arguments {};
/// An elementwise_kernel in plain numbers; the last axis is the fastest.
struct elements {
  std::int64_t rank, extents[most_axes], count;
  std::uint64_t operations;
  operation all[most_operations];
  operand operands[most_operands];
  sequence sequences[most_sequences];
};

inline constexpr int most_set_operations = 48, most_set_operands = 16;
/// Threads of a block that interprets a set kernel.
inline constexpr unsigned most_threads_of_set = 1024;

/// A sets::set_kernel in plain numbers: the extents of the axes outside and inside of sets, the last one the fastest,
/// and the set_partition.
struct set_arguments {
  struct operand {
    void* memory;
    std::uint64_t type;
    std::int64_t outside[most_axes], inside[most_axes];  ///< strides
  };
  std::int32_t outer_rank, inner_rank;
  std::int64_t outside[most_axes], inside[most_axes];
  std::int64_t sets, elements;
  std::int32_t threads, vectors, width, operations;
  std::int64_t chunks, parts;
  double* partial;
  operation all[most_set_operations];
  operand operands[most_set_operands];
};
struct convolution_arguments : windows::convolution_geometry {
  const void *first, *second;  ///< x and filters; for the gradients, dy and filters, or dy and x: see convolution_roles
  void* computed;
};
struct pooling_arguments {
  windows::geometry g;
  std::int64_t planes, kind;
  const void *x, *dy;
  void* to;
};

/// Threads of a block that computes a tile of a product.
inline constexpr unsigned product_threads = 256;

/// The axes of a batch of products: their number, the product of their extents, their extents, and the strides of a, b
/// and c.
struct batch_strides {
  std::int64_t rank, count;
  std::int64_t extents[most_axes], a[most_axes], b[most_axes], c[most_axes];
};
struct product_arguments {
  std::int64_t m, n, k;
  std::int64_t a_row, a_column, b_row, b_column, c_row;  ///< strides of rows and columns
  std::int64_t adds;                                     ///< 1 if the product is added to c, otherwise 0
  batch_strides batch;
  const void *a, *b;
  void* c;
};

}  // namespace troupe::dnn::kernel_arguments

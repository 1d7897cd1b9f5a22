// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <troupe/dnn/steps/fusion_match.hpp>
#include <troupe/dnn/steps/steps.hpp>
#include <vector>

/// Set kernels: elementwise operations and reductions over some axes, computed together, for example softmax with the
/// functions before and after it. The elements at one index of the axes that are not reduced are a set. Each operation
/// computes a value for each element, or one for each set.
///
/// Results do not depend on who computes a set kernel: the kernel that is generated for it, or the one that interprets
/// it. So a set_partition fixes the order of sums.
namespace troupe::dnn::sets {

/// The threads of a set, and the elements of each thread. In chunk c of a set, thread t has for each vector v < vectors
/// and k < width the element ((c * vectors + v) * threads + t) * width + k. It combines its elements of a chunk in this
/// order, in the type in which the graph is computed (or in double, see combining.hpp), products without rounding them,
/// and the chunks in double. Then threads are combined in pairs whose numbers differ in one bit: first among 32
/// neighbors, from the highest bit to the lowest, then the others likewise; in double if there are several chunks. Of
/// moments, a thread has the mean and the squared distances from it of its elements of a chunk, from the mean of their
/// distances from the first one.
struct set_partition {
  unsigned threads = 1;  ///< a power of 2
  unsigned vectors = 1, width = 1;
  std::int64_t chunks = 1;  ///< chunks of a set
  std::int64_t parts = 1;   ///< parts of a set, each of some chunks; their results are combined in a second kernel

  /// Returns true if each thread holds all its elements at once, so that memory is read once.
  bool is_held() const noexcept { return chunks == 1; }
};

/// The arrangement of threads on a GPU.
struct set_layout {
  bool by_columns = false;  ///< neighboring threads have neighboring sets; otherwise neighboring elements of a set
  unsigned sets = 1;        ///< neighboring sets of a thread; 1 unless `by_columns`
  unsigned lanes = 1;       ///< if `by_columns`: threads of a block with neighboring sets
  unsigned lines = 1;       ///< if `by_columns`: lines of neighboring sets of a block
  unsigned block_threads = 1;
};

struct set_kernel {
  using operation = elementwise_kernel::operation;
  std::vector<operation> operations;
  std::vector<bool> is_of_set;  ///< for each operation: true if it computes one value for each set
  std::vector<location> operands;
  iteration_space outside, inside;            ///< the sets, and the elements of a set
  std::vector<std::size_t> operand_in_space;  ///< for each operand: its index in both spaces
  set_partition partition;
  set_layout layout;
  location partial = {};  ///< results of the parts of sets, if there are several: of reduction r of set s in part p,
                          ///< the f64 at (r * count_sets() + s) * parts + p

  std::int64_t outer_stride(std::size_t operand, std::size_t axis) const noexcept {
    return outside.stride(operand_in_space[operand], axis);
  }
  std::int64_t inner_stride(std::size_t operand, std::size_t axis) const noexcept {
    return inside.stride(operand_in_space[operand], axis);
  }
  /// Returns true if the operand has other elements for other sets.
  bool differs_among_sets(std::size_t operand) const noexcept {
    for (std::size_t a = 0; a < outside.rank(); ++a)
      if (outside.extent(a) != 1 && outer_stride(operand, a) != 0) return true;
    return false;
  }
  std::int64_t count_sets() const noexcept { return outside.lines() * outside.length(); }
  std::int64_t count_elements() const noexcept { return inside.lines() * inside.length(); }
};

/// Nodes whose reductions set kernels compute, and the elementwise operations on what they read and compute. One kernel
/// computes all, except gradients of normalizations: those of scale and offset are sums over other axes, in a second
/// one.
struct set_match : fusion_match {
  tensor_shape elements;  ///< extents of the elements; channels are divided, if they are in groups
  std::int64_t channels = 1, groups = 1;
  std::vector<std::int64_t> over;  ///< for each kernel: bit i is set if axis i of the elements is inside of a set
  bool is_divided = false;         ///< true if blocks share a set
};

/// Returns kernel `which` of a match, without spaces, partition and layout. The operands are at `places`.
set_kernel make_set_kernel(const encoded_graph& g, const set_match& match, const fused_step& places, std::size_t which);

/// Returns, for each tensor that a match computes, the kernel that does so.
std::map<std::uint16_t, std::size_t> kernels_of_tensors(const encoded_graph& g, const set_match& match);

}  // namespace troupe::dnn::sets

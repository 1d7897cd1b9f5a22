// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/steps/steps.hpp>

/// CUDA kernels that are generated for the elementwise kernels of a plan, and compiled at run time.
namespace troupe::dnn::generated {

/// The number of threads of a block, in every kernel.
inline constexpr unsigned block_threads = 256;

/// The access of a thread to an operand.
struct access {
  enum class kind : std::uint8_t {
    once,    ///< one element for all elements of the thread
    wide,    ///< several neighbours at a time
    single,  ///< one element at a time
    staged,  ///< through shared memory: the block transposes a tile
  };
  kind how = kind::single;
  unsigned bytes = 0;  ///< that are read or written at a time
};

/// Square tiles of the iteration space along its last axis and another one. Each is the work of a block.
struct tiles {
  unsigned size = 32;
  std::size_t other = 0;  ///< the other axis
  std::int64_t count = 0;
};

/// The partition of the elements of an elementwise kernel among threads.
struct thread_partition {
  unsigned elements = 1;  ///< per thread: neighbours along the last axis of the iteration space
  /// True if they are neighbours in the order of the iteration space, across its axes; false if all are in one line.
  bool flat = false;
  std::int64_t groups = 0;       ///< number of threads that have elements
  std::int64_t rest = 0;         ///< elements of the last of them, if it has fewer; otherwise 0
  std::vector<access> accesses;  ///< per operand
  bool narrow_indexes = true;    ///< true if 32 bits are enough for all offsets
  std::optional<tiles> tiled;    ///< present if some operands are staged

  std::int64_t blocks() const noexcept { return tiled ? tiled->count : (groups + block_threads - 1) / block_threads; }
};

/// Chooses the partition of an elementwise kernel. `aligned`: per memory of the graph, true if it begins at a multiple
/// of 16 bytes. Memory between steps always does.
thread_partition partition_among_threads(const elementwise_kernel& kernel, const std::vector<bool>& aligned);

}  // namespace troupe::dnn::generated

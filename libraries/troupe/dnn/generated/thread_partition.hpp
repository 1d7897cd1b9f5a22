// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/steps/steps.hpp>

/// The partition of an elementwise kernel's work for the CUDA kernel that is generated for it.
namespace troupe::dnn::generated {

/// Threads of a block of each kernel that is generated for an elementwise kernel.
inline constexpr unsigned block_threads = 256;
inline constexpr unsigned widest = 16;  ///< bytes of the widest load or store

/// How a thread accesses an operand.
struct access {
  enum class kind : std::uint8_t {
    once,    ///< reads one element, which is the same for all elements of the thread
    wide,    ///< several neighbors at a time
    single,  ///< one element at a time
    staged,  ///< through shared memory: the block transposes a tile
    apart,   ///< not before or after all operations: it has no memory, or is read at indexes
  };
  kind how = kind::single;
  unsigned bytes = 0;  ///< bytes that are read or written at a time
};

/// Square tiles of the iteration space, along its last axis and another one. A block computes one tile.
struct tiles {
  unsigned size = 32;
  std::size_t other = 0;  ///< the other axis
  std::int64_t count = 0;
};

/// The partition of the elements of an elementwise kernel among threads.
struct thread_partition {
  unsigned elements = 1;  ///< elements of a thread; they are neighbors in the order of the iteration space
  /// True if a thread's elements may be in several lines; false if all of them are in one line.
  bool flat = false;
  std::int64_t groups = 0;       ///< number of threads that have elements
  std::int64_t rest = 0;         ///< elements of the last thread, if it has fewer than the others; otherwise 0
  std::vector<access> accesses;  ///< the access to each operand
  bool narrow_indexes = true;    ///< true if 32 bits hold all offsets of elements
  std::optional<tiles> tiled;    ///< present if some accesses are staged

  std::int64_t blocks() const noexcept { return tiled ? tiled->count : (groups + block_threads - 1) / block_threads; }
};

/// Chooses the partition of an elementwise kernel. `aligned` has a flag for each memory of the graph: true if its
/// address is a multiple of 16; addresses of the plan's buffers always are.
thread_partition partition_among_threads(const elementwise_kernel& kernel, const std::vector<bool>& aligned);

}  // namespace troupe::dnn::generated

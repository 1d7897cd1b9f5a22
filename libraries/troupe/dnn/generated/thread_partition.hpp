// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/steps/steps.hpp>

/// Kernels that are written for the passes of a plan, and compiled at run time.
namespace troupe::dnn::generated {

/// Threads of a block of every kernel.
inline constexpr unsigned block_threads = 256;

/// How a thread reads or writes an operand.
struct access {
  enum class kind : std::uint8_t {
    once,    ///< the same element for all
    wide,    ///< neighbours, several in one go
    single,  ///< one after the other
    staged,  ///< by its block, which transposes a tile of it
  };
  kind how = kind::single;
  unsigned bytes = 0;  ///< that are read or written in one go
};

/// Square tiles of the iteration space's last index and another one, each the work of a block.
struct tiles {
  unsigned size = 32;
  std::size_t other = 0;
  std::int64_t count = 0;
};

/// How an elementwise kernel is divided among threads.
struct division {
  unsigned elements = 1;  ///< of a thread: neighbours along the last index of the iteration space
  /// They are neighbours in the order of the iteration space, across its indexes. Otherwise all are of one line.
  bool flat = false;
  std::int64_t groups = 0;       ///< threads that have elements
  std::int64_t rest = 0;         ///< elements of the last of them, if that has fewer
  std::vector<access> accesses;  ///< of each operand
  bool narrow_indexes = true;    ///< 32 bits are enough for all
  std::optional<tiles> tiled;    ///< if some operands are staged

  std::int64_t blocks() const noexcept { return tiled ? tiled->count : (groups + block_threads - 1) / block_threads; }
};

/// `aligned`: which memory of the graph begins at a multiple of 16 bytes. Memory between steps always does.
division divide(const elementwise_kernel& p, const std::vector<bool>& aligned);

}  // namespace troupe::dnn::generated

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/base/enumeration.hpp>

namespace troupe::kernel {

/// The head of a program's memory block, which the application and its workers map at the same address. The recipe
/// follows the head, and the program's name, for texts, follows the recipe. A worker that does not know the program
/// builds it from the recipe, unless the program was unloaded. Only the application writes the block, so it outlives
/// workers. As an operand, the root stands for the program's global variables. The state and the log, which workers
/// write, are in another block.
struct program_root {
  static constexpr std::uint64_t bytes = 64, state_bytes = 64;

  std::uint64_t id;             ///< never reused
  std::uint64_t state = 0;      ///< address of the state; the log follows it
  std::uint64_t log_bytes = 0;  ///< capacity of the log
  std::uint64_t recipe_at = 0, recipe_bytes = 0;
  std::uint64_t unloaded = 0;   ///< 1: no worker may build the program any more
  std::uint64_t cancelled = 0;  ///< 1: the program is no longer wanted, unless it has been built already
  std::uint64_t name_bytes = 0;
};
static_assert(sizeof(program_root) == program_root::bytes);

/// The origin of an image.
enum class image_source : std::uint8_t {
  unknown = 0,
  compiled = 1,  ///< a compiler has run
  memory = 2,    ///< this worker had compiled an equal program, or was compiling it
  disk = 3,      ///< found in the cache on disk
  given = 4,     ///< given by the application: a module
};
TROUPE_ENUM(image_source, unknown, compiled, memory, disk, given)

/// The outcome of building a program. Written by the worker that built it.
struct build_summary {
  std::int64_t duration_ns = 0;
  std::uint64_t image_bytes = 0;
  std::uint64_t log_bytes = 0;  ///< bytes of the log that are stored
  std::uint32_t kernels = 0, globals = 0;
  image_source source = image_source::unknown;
  std::uint8_t written = 0;  ///< 1: a worker has written this summary
  std::uint8_t reserved[6] = {};
};
static_assert(sizeof(build_summary) <= program_root::state_bytes);

/// The program's state; the log follows it.
struct program_state {
  build_summary summary;
};

}  // namespace troupe::kernel

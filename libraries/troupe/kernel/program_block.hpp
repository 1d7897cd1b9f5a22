// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace troupe::kernel {

/// What begins the block of memory that a program lives in, which application and workers see at the same address:
/// this root, and the recipe. A worker that does not know the program makes it from the recipe, unless it was unloaded.
/// Written by the application alone, so that it outlives workers. As an operand it stands for the program's global
/// variables. What the worker says of the program, a state and a log, lies in another block.
struct program_root {
  static constexpr std::uint64_t bytes = 64, state_bytes = 64;

  std::uint64_t id;         ///< never given twice
  std::uint64_t state;      ///< address of the state, which the log follows
  std::uint64_t log_bytes;  ///< room for it
  std::uint64_t recipe_at, recipe_bytes;
  std::uint64_t unloaded;   ///< 1: nobody makes it any more
  std::uint64_t cancelled;  ///< 1: where it is not made yet, nobody wants it any more
  std::uint64_t reserved;
};
static_assert(sizeof(program_root) == program_root::bytes);

/// Where an image came from.
enum class image_source : std::uint8_t {
  unknown = 0,
  compiled = 1,  ///< the compiler has run
  memory = 2,    ///< an equal program had been compiled by this worker, or was being compiled
  disk = 3,      ///< the cache on disk had it
  given = 4,     ///< the application gave it: a module
};
constexpr const char* to_string(image_source s) noexcept {
  constexpr const char* names[] = {"unknown", "compiled", "memory", "disk", "given"};
  return names[static_cast<std::uint8_t>(s) <= 4 ? static_cast<std::uint8_t>(s) : 0];
}

/// How making a program went. Written by the worker that made it.
struct build_summary {
  std::int64_t duration_ns = 0;
  std::uint64_t image_bytes = 0;
  std::uint64_t log_bytes = 0;  ///< of the log that were kept
  std::uint32_t kernels = 0, globals = 0;
  image_source source = image_source::unknown;
  std::uint8_t written = 0;  ///< 1: by a worker
  std::uint8_t reserved[6] = {};
};
static_assert(sizeof(build_summary) <= program_root::state_bytes);

/// The state, before the log.
struct program_state {
  build_summary summary;
};

}  // namespace troupe::kernel

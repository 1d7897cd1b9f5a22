// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/jit/program.hpp>
#include <troupe/kernel/launch.hpp>

namespace troupe::jit {

/// Runs a kernel over a grid of blocks. Reads and writes what its arguments say; they may overlap each other, if the
/// kernel is written for that.   cuLaunchKernelEx
struct launch {
  kernel::function kernel;        ///< of `program::kernel`
  kernel::dimensions grid;        ///< blocks
  kernel::dimensions block;       ///< threads of each
  extent shared_bytes = 0;        ///< of dynamic shared memory, for each block
  kernel::arguments arguments{};  ///< as many as the kernel has parameters: `{a, x, inout(y), n}`
  bool cooperative = false;       ///< all blocks at the same time, so that the grid can meet
  /// The kernel writes global variables of its program: in order with whoever uses them.
  bool writes_globals = false;
  /// Blocks that run together and may use each other's shared memory: a part of the grid in each direction, 8 blocks at
  /// most. 1: as the kernel was compiled. From capability 9.0 on.
  kernel::dimensions cluster = 1;
  bool non_portable_cluster = false;  ///< up to 16 blocks, where this GPU can
  /// May begin before what was launched before it on the same lane has ended, and itself waits for that in every block
  /// (`griddepcontrol.wait`) before it touches what the other writes, and before it ends. From capability 9.0 on; else
  /// it begins later.
  bool dependent = false;
  int shared_carveout =
      -1;  ///< of the memory that level-1 cache and shared memory divide, per cent; -1: as the driver likes
  using reply = void;
  TROUPE_REQUEST("jit.launch", kernel, grid, block, shared_bytes, arguments, cooperative, writes_globals, cluster,
                 non_portable_cluster, dependent, shared_carveout)
  void check(checker& c) const;
};

/// Writes the bytes of `source` to a global variable.   cuModuleGetGlobal, cuMemcpyAsync
struct write_global {
  kernel::global global;  ///< of `program::global`
  in<std::byte> source;   ///< `x.as<std::byte>()` of a buffer of anything
  extent offset_bytes = 0;
  using reply = void;
  TROUPE_REQUEST("jit.write_global", global, source, offset_bytes)
  void check(checker& c) const;
};

/// Reads from a global variable as many bytes as `target` has.
struct read_global {
  kernel::global global;
  out<std::byte> target;
  extent offset_bytes = 0;
  using reply = void;
  TROUPE_REQUEST("jit.read_global", global, target, offset_bytes)
  void check(checker& c) const;
};

/// What `compile` sends.   nvrtcCompileProgram / the system's compiler
struct compile_recipe {
  in<std::byte> recipe;
  out<std::byte> root, state;
  static constexpr std::string_view not_recorded = kernel::done_once;
  using reply = void;
  TROUPE_REQUEST("jit.compile", recipe, root, state)
  void check(checker& c) const;
};

/// What `program::ready` and `program::summary` send.
struct read_summary {
  in<std::byte> recipe;
  inout<std::byte> state;  ///< written, with the log, by a worker that has not told of the program before
  std::uint64_t root;      ///< address
  using reply = kernel::build_summary;
  TROUPE_REQUEST("jit.summary", recipe, state, root)
  void check(checker& c) const;
};

/// What `program::image` sends: copies the first bytes of the compiled image.   nvrtcGetCUBIN
struct read_image {
  in<std::byte> root;  ///< of the program: no unloading while it runs
  out<std::byte> target;
  using reply = std::uint64_t;  ///< bytes of the image
  TROUPE_REQUEST("jit.image", root, target)
  void check(checker& c) const;
};

/// What `program::attributes` sends.   cuFuncGetAttribute
struct read_attributes {
  in<std::byte> root;  ///< of the program: no unloading while it runs
  text kernel;
  out<std::byte> listing;
  using reply = kernel::attributes_head;
  TROUPE_REQUEST("jit.attributes", root, kernel, listing)
  void check(checker& c) const;
};

/// What `program::occupancy` sends.   cuOccupancyMaxActiveBlocksPerMultiprocessor
struct read_occupancy {
  in<std::byte> root;  ///< of the program: no unloading while it runs
  text kernel;
  troupe::kernel::dimensions block;
  extent shared_bytes = 0;
  troupe::kernel::dimensions cluster = 1;
  using reply = troupe::kernel::occupancy;
  TROUPE_REQUEST("jit.occupancy", root, kernel, block, shared_bytes, cluster)
  void check(checker& c) const;
};

/// What `program::unload` sends. Waits for launches, by order, and runs whether they failed or not.   cuModuleUnload
struct unload {
  out<std::byte> root, state;
  static constexpr std::string_view not_recorded = kernel::done_once;
  using reply = void;
  TROUPE_REQUEST("jit.unload", root, state)
  void check(checker& c) const;
};

}  // namespace troupe::jit

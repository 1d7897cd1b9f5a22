// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/fixed_string.hpp>
#include <troupe/kernel/attributes.hpp>
#include <troupe/kernel/launch.hpp>
#include <troupe/request/request_list.hpp>

/// The requests of every library with kernels, which takes those of its name: `using launch = kernel::launch<"jit">;`
namespace troupe::kernel {

/// Runs a kernel over a grid of blocks. Reads and writes what its arguments say; they may overlap each other, if the
/// kernel is written for that.   cuLaunchKernelEx
template <fixed_string Library>
struct launch {
  function kernel;                ///< of `jit::program::kernel` or `module::image::kernel`
  dimensions grid;                ///< blocks
  dimensions block;               ///< threads of each
  extent shared_bytes = 0;        ///< of dynamic shared memory, for each block
  kernel::arguments arguments{};  ///< as many as the kernel has parameters: `{a, x, inout(y), n}`
  bool cooperative = false;       ///< all blocks at the same time, so that the grid can meet
  /// The kernel writes global variables of its program: in order with what uses them.
  bool writes_globals = false;
  /// Blocks that run together and may use each other's shared memory: a part of the grid in each direction, 8 blocks at
  /// most. 1: as the kernel was compiled. From capability 9.0 on.
  dimensions cluster = 1;
  bool non_portable_cluster = false;  ///< up to 16 blocks, where this GPU can
  /// May begin before what was launched before it on the same lane has ended, and itself waits for that in every block
  /// (`griddepcontrol.wait`) before it touches what the other writes, and before it ends. From capability 9.0 on; else
  /// it begins later.
  bool dependent = false;
  /// Of the memory that level-1 cache and shared memory divide, per cent; -1: as the driver likes.
  int shared_carveout = -1;
  using reply = void;
  TROUPE_REQUEST(static_text<Library + ".launch">, kernel, grid, block, shared_bytes, arguments, cooperative,
                 writes_globals, cluster, non_portable_cluster, dependent, shared_carveout)
  void check(checker& c) const {
    check_launch(c, {.kernel = kernel,
                     .grid = grid,
                     .block = block,
                     .cluster = cluster,
                     .shared_bytes = shared_bytes,
                     .values = arguments,
                     .shared_carveout = shared_carveout,
                     .writes_globals = writes_globals,
                     .non_portable_cluster = non_portable_cluster});
  }
};

/// Writes the bytes of `source` to a global variable.   cuModuleGetGlobal, cuMemcpyAsync
template <fixed_string Library>
struct write_global {
  kernel::global global;  ///< of `jit::program::global` or `module::image::global`
  in<std::byte> source;   ///< `x.as<std::byte>()` of a buffer of anything
  extent offset_bytes = 0;
  using reply = void;
  TROUPE_REQUEST(static_text<Library + ".write_global">, global, source, offset_bytes)
  void check(checker& c) const { check_global(c, global, offset_bytes, true); }
};

/// Reads from a global variable as many bytes as `target` has.
template <fixed_string Library>
struct read_global {
  kernel::global global;
  out<std::byte> target;
  extent offset_bytes = 0;
  using reply = void;
  TROUPE_REQUEST(static_text<Library + ".read_global">, global, target, offset_bytes)
  void check(checker& c) const { check_global(c, global, offset_bytes, false); }
};

// What follows is made of parts of a program, by the functions of its handle.

/// What makes a program: `jit::compile` and `module::load` send it.
template <fixed_string Library, fixed_string Verb>
struct make_program {
  in<std::byte> recipe;
  out<std::byte> root, state;
  static constexpr std::string_view not_recorded = done_once;
  using reply = void;
  TROUPE_REQUEST(static_text<Library + "." + Verb>, recipe, root, state)
  void check(checker& c) const {
    c.require(state.size() >= program_root::state_bytes, state, "is too small", "a program's state");
    c.elements(root, program_root::bytes);
  }
};

/// What `ready` and `summary` send.
template <fixed_string Library>
struct read_summary {
  in<std::byte> recipe;
  inout<std::byte> state;  ///< written, with the log, by a worker that has not told of the program before
  std::uint64_t root;      ///< address
  using reply = build_summary;
  TROUPE_REQUEST(static_text<Library + ".summary">, recipe, state, root)
  void check(checker& c) const { c.elements(state, program_root::state_bytes); }
};

/// What `attributes` sends.   cuFuncGetAttribute
template <fixed_string Library>
struct read_attributes {
  in<std::byte> root;  ///< of the program: no unloading while it runs
  text kernel;
  out<std::byte> listing;
  using reply = attributes_head;
  TROUPE_REQUEST(static_text<Library + ".attributes">, root, kernel, listing)
  void check(checker& c) const { check_kernel(c, root, kernel); }
};

/// What `occupancy` sends.   cuOccupancyMaxActiveBlocksPerMultiprocessor
template <fixed_string Library>
struct read_occupancy {
  in<std::byte> root;  ///< of the program: no unloading while it runs
  text kernel;
  dimensions block;
  extent shared_bytes = 0;
  dimensions cluster = 1;
  using reply = occupancy;
  TROUPE_REQUEST(static_text<Library + ".occupancy">, root, kernel, block, shared_bytes, cluster)
  void check(checker& c) const {
    check_kernel(c, root, kernel);
    check_block(c, block, shared_bytes, cluster, true);
  }
};

/// What `unload` sends. Waits for launches, by order, and runs whether they failed or not.   cuModuleUnload
template <fixed_string Library>
struct unload {
  out<std::byte> root, state;
  static constexpr std::string_view not_recorded = done_once;
  using reply = void;
  TROUPE_REQUEST(static_text<Library + ".unload">, root, state)
  void check(checker& c) const {
    c.elements(root, program_root::bytes);
    c.elements(state, program_root::state_bytes);
  }
};

/// All of them, where a program is made by "LIBRARY.VERB".
template <fixed_string Library, fixed_string Verb>
using requests =
    request_list<make_program<Library, Verb>, launch<Library>, write_global<Library>, read_global<Library>,
                 read_summary<Library>, read_attributes<Library>, read_occupancy<Library>, unload<Library>>;

}  // namespace troupe::kernel

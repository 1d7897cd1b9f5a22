// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/text/fixed_string.hpp>
#include <troupe/kernel/attributes.hpp>
#include <troupe/kernel/launch.hpp>
#include <troupe/request/request_list.hpp>

/// The requests of every library with kernels. A library gives them its own names: `using launch =
/// kernel::launch<"jit">;`
namespace troupe::kernel {

/// Runs a kernel on a grid of blocks. Arguments are read or written as they are passed: `in(x)`, `out(x)`, `inout(x)`.
/// They may overlap each other if the kernel allows it.   cuLaunchKernelEx
template <fixed_string Library>
struct launch {
  function kernel;                ///< from `jit::program::kernel` or `module::image::kernel`
  dimensions grid;                ///< in blocks
  dimensions block;               ///< in threads
  extent shared_bytes = 0;        ///< dynamic shared memory of each block
  kernel::arguments arguments{};  ///< one for each parameter of the kernel: `{a, x, inout(y), n}`
  bool cooperative = false;       ///< all blocks run at the same time, so the grid can synchronize
  /// The kernel writes global variables of its program; the launch is ordered with all uses of them.
  bool writes_globals = false;
  /// Blocks of a cluster in each direction: they run together and can use each other's shared memory, at most 8 of
  /// them. They must divide the grid in each direction. 1: as the kernel was compiled. Needs capability 9.0 or newer.
  dimensions cluster = 1;
  bool non_portable_cluster = false;  ///< allows up to 16 blocks, if the GPU supports it
  /// The kernel may begin before the previous launch on the same lane has ended. Every block must then wait for that
  /// launch (`griddepcontrol.wait`) before it accesses what the other kernel writes, and before the block ends. Needs
  /// capability 9.0; on older GPUs, the kernel begins after the previous launch.
  bool dependent = false;
  /// Per cent of the memory that shared memory and the level-1 cache divide which shared memory gets; -1: the driver
  /// decides.
  int shared_carveout = -1;
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
  kernel::global global;  ///< from `jit::program::global` or `module::image::global`
  in<std::byte> source;   ///< `x.as<std::byte>()` of any buffer
  extent offset_bytes = 0;
  TROUPE_REQUEST(static_text<Library + ".write_global">, global, source, offset_bytes)
  void check(checker& c) const { check_global(c, global, offset_bytes, true); }
};

/// Reads from a global variable as many bytes as `target` holds.
template <fixed_string Library>
struct read_global {
  kernel::global global;
  out<std::byte> target;
  extent offset_bytes = 0;
  TROUPE_REQUEST(static_text<Library + ".read_global">, global, target, offset_bytes)
  void check(checker& c) const { check_global(c, global, offset_bytes, false); }
};

// The functions of a program's handle send the requests below.

/// True if the library compiles programs, so that their recipes limit the time for a build.
template <fixed_string Library>
inline constexpr bool compiles = std::string_view(static_text<Library>) != "module";

/// Builds a program. Sent by `jit::compile` and `module::load`.
template <fixed_string Library, fixed_string Verb>
struct make_program {
  in<std::byte> recipe;
  out<std::byte> root, state;
  static constexpr std::string_view not_recorded = done_once;
  static constexpr bool has_own_time_limit = compiles<Library>;
  TROUPE_REQUEST(static_text<Library + "." + Verb>, recipe, root, state)
  void check(checker& c) const {
    if (state.size() < program_root::state_bytes)
      c.refuse(&state, "has " + std::to_string(state.size()) + " bytes",
               "at least " + std::to_string(program_root::state_bytes));
    c.elements(root, program_root::bytes);
  }
};

/// Sent by `ready` and `summary`.
template <fixed_string Library>
struct read_summary {
  in<std::byte> recipe;
  /// Written, with the log, by a worker that has not reported the program before.
  inout<std::byte> state;
  std::uint64_t root;  ///< address of the program's root
  static constexpr bool has_own_time_limit = compiles<Library>;
  using reply = build_summary;
  TROUPE_REQUEST(static_text<Library + ".summary">, recipe, state, root)
  void check(checker& c) const { c.elements(state, program_root::state_bytes); }
};

/// Sent by `attributes`.   cuFuncGetAttribute
template <fixed_string Library>
struct read_attributes {
  in<std::byte> root;  ///< the program's root, which keeps it from being unloaded meanwhile
  text kernel;
  out<std::byte> listing;
  using reply = attributes_head;
  TROUPE_REQUEST(static_text<Library + ".attributes">, root, kernel, listing)
  void check(checker& c) const { check_kernel(c, root, kernel); }
};

/// Sent by `occupancy`.   cuOccupancyMaxActiveBlocksPerMultiprocessor
template <fixed_string Library>
struct read_occupancy {
  in<std::byte> root;  ///< the program's root, which keeps it from being unloaded meanwhile
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

/// Unloads a program. Sent by `unload`. Runs after all launches, whether they have failed or not.   cuModuleUnload
template <fixed_string Library>
struct unload {
  out<std::byte> root, state;
  static constexpr std::string_view not_recorded = done_once;
  TROUPE_REQUEST(static_text<Library + ".unload">, root, state)
  void check(checker& c) const {
    c.elements(root, program_root::bytes);
    c.elements(state, program_root::state_bytes);
  }
};

/// All requests of a library whose request "LIBRARY.VERB" builds programs.
template <fixed_string Library, fixed_string Verb>
using requests =
    request_list<make_program<Library, Verb>, launch<Library>, write_global<Library>, read_global<Library>,
                 read_summary<Library>, read_attributes<Library>, read_occupancy<Library>, unload<Library>>;

}  // namespace troupe::kernel

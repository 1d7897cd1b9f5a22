// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/kernel/launch.hpp>
#include <troupe/module/image.hpp>

namespace troupe::module {

/// Runs a kernel over a grid of blocks. Reads and writes what its arguments say; they may overlap each other, if the
/// kernel is written for that.   cuLaunchKernel
struct launch {
  kernel::function kernel;        ///< of `image::kernel`
  kernel::dimensions grid;        ///< blocks
  kernel::dimensions block;       ///< threads of each
  extent shared_bytes = 0;        ///< of dynamic shared memory, for each block
  kernel::arguments arguments{};  ///< as many as the kernel has parameters: `{a, x, inout(y), n}`
  bool cooperative = false;       ///< all blocks at the same time, so that the grid can meet
  bool writes_globals = false;    ///< the kernel writes global variables of its image: in order with whoever uses them
  using reply = void;
  TROUPE_REQUEST("module.launch", kernel, grid, block, shared_bytes, arguments, cooperative, writes_globals)
  void check(checker& c) const;
};

/// Writes the bytes of `source` to a global variable.   cuModuleGetGlobal, cuMemcpyAsync
struct write_global {
  kernel::global global;  ///< of `image::global`
  in<std::byte> source;   ///< `x.as<std::byte>()` of a buffer of anything
  extent offset_bytes = 0;
  using reply = void;
  TROUPE_REQUEST("module.write_global", global, source, offset_bytes)
  void check(checker& c) const;
};

/// Reads from a global variable as many bytes as `target` has.
struct read_global {
  kernel::global global;
  out<std::byte> target;
  extent offset_bytes = 0;
  using reply = void;
  TROUPE_REQUEST("module.read_global", global, target, offset_bytes)
  void check(checker& c) const;
};

/// What `load` sends.   cuModuleLoadDataEx
struct load_image {
  in<std::byte> recipe;
  out<std::byte> root, state;
  using reply = void;
  TROUPE_REQUEST("module.load", recipe, root, state)
  void check(checker& c) const;
};

/// What `image::ready` and `image::summary` send.
struct read_summary {
  in<std::byte> recipe;
  inout<std::byte> state;  ///< written, with the log, by a worker that has not told of the program before
  std::uint64_t root;      ///< address
  using reply = kernel::build_summary;
  TROUPE_REQUEST("module.summary", recipe, state, root)
  void check(checker& c) const;
};

/// What `image::attributes` sends.   cuFuncGetAttribute
struct read_attributes {
  in<std::byte> root;  ///< of the program: no unloading while it runs
  std::string kernel;
  out<std::byte> listing;
  using reply = kernel::attributes_head;
  TROUPE_REQUEST("module.attributes", root, kernel, listing)
  void check(checker& c) const;
};

/// What `image::unload` sends. Waits for launches, by order, and runs whether they failed or not.   cuModuleUnload
struct unload {
  out<std::byte> root, state;
  using reply = void;
  TROUPE_REQUEST("module.unload", root, state)
  void check(checker& c) const;
};

}  // namespace troupe::module

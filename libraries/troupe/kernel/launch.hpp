// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/kernel/arguments.hpp>
#include <troupe/kernel/dimensions.hpp>
#include <troupe/kernel/program.hpp>
#include <troupe/request/checker.hpp>

/// Types and functions that the launches of all libraries with kernels have in common.
namespace troupe::kernel {

/// Why a request that makes or unloads a program cannot be part of a graph.
inline constexpr std::string_view done_once = "it makes or ends a program, which is done once";

/// Refuses empty and unloaded programs.
void check_program(checker& c, const program& p, const void* field);

/// Checks a block, its shared memory and a cluster of blocks against CUDA's limits.
void check_block(checker& c, const dimensions& block, const extent& shared_bytes, const dimensions& cluster,
                 bool non_portable_cluster);

/// The fields of a launch.
struct launch_fields {
  const function& kernel;
  const dimensions &grid, &block, &cluster;
  const extent& shared_bytes;
  const arguments& values;
  const int& shared_carveout;
  bool writes_globals, non_portable_cluster;
};
/// Checks everything that can be checked before the kernel is known.
void check_launch(checker& c, const launch_fields& l);

/// Checks an access to a global variable that begins at `offset_bytes`.
void check_global(checker& c, const global& variable, const extent& offset_bytes, bool writes);

/// Checks the fields of a query about a kernel.
void check_kernel(checker& c, const in<std::byte>& root, const text& kernel);

}  // namespace troupe::kernel

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/kernel/arguments.hpp>
#include <troupe/kernel/dimensions.hpp>
#include <troupe/kernel/program.hpp>
#include <troupe/request/checker.hpp>

/// What the launches of all actors with kernels have in common.
namespace troupe::kernel {

/// Empty and unloaded programs are refused.
void check_program(checker& c, const program& p, const void* field);

/// Extents within CUDA's limits, and what else can be judged before the kernel is known.
void check_launch(checker& c, const function& kernel, const dimensions& grid, const dimensions& block,
                  const extent& shared_bytes, const arguments& values, bool writes_globals);

/// A global variable, from `offset_bytes` on.
void check_global(checker& c, const global& variable, const extent& offset_bytes, bool writes);

}  // namespace troupe::kernel

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/result.hpp>
#include <troupe/base/threads/thread_team.hpp>
#include <troupe/cutlass/problems/convolution_problem.hpp>

namespace troupe::cutlass::host {

/// Computes a convolution or a gradient with at most `workspace` bytes of memory beside the operands. `name` is the
/// request's name, for errors. Throws std::bad_alloc if there is not that much memory.
result<void> convolve(const convolution_problem& p, std::uint64_t workspace, std::string_view name, thread_team& team);

/// Returns the bytes that `convolve` would use; fails if `workspace` is less than it needs.
result<std::uint64_t> memory_for(const convolution_problem& p, std::uint64_t workspace, std::string_view name,
                                 thread_team& team);

}  // namespace troupe::cutlass::host

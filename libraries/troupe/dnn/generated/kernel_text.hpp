// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/dnn/generated/text_parts.hpp>
#include <troupe/dnn/generated/thread_partition.hpp>

namespace troupe::dnn::generated {

/// Returns the source text that precedes the kernels of a plan. `compute_type` is the type in which the plan computes;
/// `any_random` is true if any of its kernels generates random numbers, `any_sets` if any is a set kernel.
std::string prelude_of(dtype compute_type, bool any_random, bool any_sets);

/// Returns the CUDA kernel for an elementwise kernel. Extents, strides and numbers are not in the text, so that kernels
/// for other extents and numbers are the same.
kernel_text text_of(const elementwise_kernel& kernel, const thread_partition& partition);

}  // namespace troupe::dnn::generated

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/dnn/generated/thread_partition.hpp>

namespace troupe::dnn::generated {

/// Returns the source text that precedes the kernels of a plan which computes in the type `compute_type`. `any_random`:
/// true if kernels generate random numbers.
std::string prelude_of(dtype compute_type, bool any_random);

/// Returns the body of the CUDA kernel for an elementwise kernel. The parameter of the CUDA kernel is `at`, of type
/// operands<number of operands + number of sequences>.
std::string body_of(const elementwise_kernel& kernel, const thread_partition& partition);

}  // namespace troupe::dnn::generated

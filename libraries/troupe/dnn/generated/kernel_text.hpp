// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/dnn/generated/thread_partition.hpp>

namespace troupe::dnn::generated {

/// Returns the source before the kernels of a plan that computes in the type `numbers`. `any_random`: kernels make
/// random numbers.
std::string prelude_of(dtype numbers, bool any_random);

/// Returns the body of the CUDA kernel for an elementwise kernel. Its parameter is `at`: operands<number of operands
/// and of sequences>.
std::string body_of(const elementwise_kernel& kernel, const thread_partition& partition);

}  // namespace troupe::dnn::generated

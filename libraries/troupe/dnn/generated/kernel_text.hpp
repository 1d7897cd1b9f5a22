// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/dnn/generated/division.hpp>

namespace troupe::dnn::generated {

/// What stands before the kernels of a plan that computes in `numbers`, some of which may be random.
std::string prelude_of(dtype numbers, bool any_random);

/// What stands between the braces of an elementwise kernel's kernel, whose parameter is `at`: an operands<number of
/// operands and of sequences>.
std::string body_of(const elementwise_kernel& p, const division& d);

}  // namespace troupe::dnn::generated

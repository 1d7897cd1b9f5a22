// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/dnn/generated/division.hpp>

namespace troupe::dnn::generated {

/// What stands before the kernels of a plan that computes in `numbers`.
std::string prelude_of(dtype numbers);

/// What stands between the braces of a pass's kernel, whose parameter is `at`, an operands<number of operands>.
std::string body_of(const pass& p, const division& d);

}  // namespace troupe::dnn::generated

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/result.hpp>
#include <troupe/cutlass/vendor/interface.hpp>

namespace troupe::cutlass::vendor {

/// Checks whether a kernel accepts a launch. Fails with the field, its value and what was expected: `caller_bug` if no
/// kernel accepts it, `unsupported` if another kernel may. Needs no GPU.
result<void> check(const kernel_variant& c, const launch& l);

/// Returns the size of an element in bits; 0 for a name that no kernel has.
int bits_of(const char* type) noexcept;

}  // namespace troupe::cutlass::vendor

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/result.hpp>
#include <troupe/cutlass/vendor/interface.hpp>

namespace troupe::cutlass::vendor {

/// Fails if a kernel cannot compute a launch: with `caller_bug` if no kernel can, with `unsupported` if another kernel
/// may. The error names the field, its value and the expected value. Needs no GPU.
result<void> check(const kernel_variant& c, const launch& l);

/// Returns the size of an element in bits; 0 for a name that no kernel has.
int bits_of(const char* type) noexcept;

}  // namespace troupe::cutlass::vendor

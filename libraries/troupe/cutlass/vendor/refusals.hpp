// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/result.hpp>
#include <troupe/cutlass/vendor/interface.hpp>

namespace troupe::cutlass::vendor {

/// Checks whether a cell takes a launch. Fails with the field, its value and what was expected: `caller_bug` for what
/// no cell takes, `unsupported` for what another cell may take. Needs no GPU.
result<void> check(const cell& c, const launch& l);

/// The size of an element in bits; 0 for a name that no cell has.
int bits_of(const char* type) noexcept;

}  // namespace troupe::cutlass::vendor

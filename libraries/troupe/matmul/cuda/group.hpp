// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/matmul/matmul.hpp>

/// Small products of one kind, which differ in their addresses only, so that one launch computes many.
namespace troupe::matmul {

/// Returns a number that requests of one kind share, and others hardly ever; 0 for one that is computed alone.
std::uint64_t group_number(const multiplication& r) noexcept;
/// Whether the requests differ in their addresses only.
bool are_of_one_kind(const multiplication& one, const multiplication& other) noexcept;

}  // namespace troupe::matmul

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/matmul/matmul.hpp>

/// Finds small products that differ in their addresses only, so that one launch computes many of them.
namespace troupe::matmul {

/// Returns a hash that is equal for requests that differ in their addresses only; 0 if no launch can compute this
/// request together with others.
std::uint64_t group_number(const multiplication& r) noexcept;
/// Returns true if the requests differ in their addresses only.
bool differ_in_addresses_only(const multiplication& one, const multiplication& other) noexcept;

}  // namespace troupe::matmul

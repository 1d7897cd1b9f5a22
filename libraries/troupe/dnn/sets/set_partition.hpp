// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/sets/set_kernel.hpp>

namespace troupe::dnn::sets {

inline constexpr unsigned most_threads = 1024;  ///< of a set

/// Sets the spaces, the partition and the layout of a kernel whose operands have locations. `of` is the shape of all
/// elements, `over` has a bit for each axis inside of sets. Divides sets into as many parts as are
/// worth it and fit into `workspace` bytes.
void partition(set_kernel& k, const tensor_shape& of, std::int64_t over, std::uint64_t workspace);

/// Returns, for each operation, how many reductions in a row it depends on, itself included.
std::vector<std::size_t> depths_of(const set_kernel& k);
/// Returns true if the value of an element depends on a reduction, so that sets cannot have parts.
bool any_element_needs_a_reduction(const set_kernel& k);
std::size_t count_reductions(const set_kernel& k) noexcept;
/// Returns the blocks of a launch for each part of the sets.
std::int64_t blocks_of(const set_kernel& k) noexcept;
/// Returns the bytes of memory for results of parts; 0 if sets have one part.
std::uint64_t partial_bytes_of(const set_kernel& k) noexcept;

}  // namespace troupe::dnn::sets

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/dnn/producer.hpp>

/// Operations on tensors of which an extent is 0. Engines never see one: what has no elements is not computed, and what
/// is computed from nothing is a number, or what another tensor holds.
namespace troupe::dnn::detail {

/// Returns true if an extent is 0.
bool is_empty(const value& v) noexcept;
/// Returns true if an operation reads a tensor without elements.
bool reads_nothing(const producer& p) noexcept;

/// What each element of an output is: a number, or the element of another tensor of the same extents.
struct known_output {
  double number = 0;
  std::optional<value> same = {};
};
/// Returns what an output with elements is if its operation reads nothing. Not for concatenations, which have parts.
known_output output_of_nothing(const producer& p, std::size_t output);

}  // namespace troupe::dnn::detail

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/dnn/producer.hpp>

/// Operations on tensors with an extent of 0. Engines never receive one: values without elements are not computed, and
/// values computed from nothing are a number, or equal another tensor.
namespace troupe::dnn::detail {

/// Returns true if an extent is 0.
bool is_empty(const value& v) noexcept;
/// Returns true if an operation reads a tensor without elements.
bool reads_nothing(const producer& p) noexcept;

/// The elements of an output: a number, or those of another tensor of the same extents.
struct known_output {
  double number = 0;
  std::optional<value> same = {};
};
/// Returns the elements of an output whose operation reads nothing. Not for concatenations, which have several inputs.
known_output output_of_nothing(const producer& p, std::size_t output);

}  // namespace troupe::dnn::detail

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/dnn/graph/producer.hpp>

/// Operations on tensors with an extent of 0. Engines never receive such tensors: values without elements are not
/// computed, and elements of values computed from none are a constant, or equal those of another tensor.
namespace troupe::dnn::detail {

/// Returns true if an extent is 0.
bool is_empty(const value& v) noexcept;
/// Returns true if an operation reads a tensor without elements.
bool reads_nothing(const producer& p) noexcept;

/// The elements of an output that needs no computation: all are `number`, or they are those of `same`.
struct known_output {
  double number = 0;
  std::optional<value> same = {};
};
/// Returns input `input` as an output, or 0 if there is no such input.
known_output input_or_zero(const producer& p, std::size_t input);
/// Returns the elements of an output whose operation reads a tensor without elements. Not for concatenations, whose
/// other inputs may have elements.
known_output output_of_nothing(const producer& p, std::size_t output);

}  // namespace troupe::dnn::detail

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <troupe/dnn/cuda/launches.hpp>

/// Steps of ours that normalise over all indexes but the channels, which are neighbours.
namespace troupe::dnn {

/// Bytes that a normalisation, or its gradient, needs beside its tensors; nothing if it is none over all indexes but
/// the channels, or x has no 8 channels, 16, 24 ...
std::optional<std::uint64_t> column_workspace_of(op what, const normalization_attributes& f,
                                                 const tensor_shape& x) noexcept;

/// Whether the step's kernels are these, rather than those of rows.
bool is_of_columns(const operator_step& s) noexcept;
result<void> normalize_columns(const operator_step& s, const launch_site& w);
result<void> normalize_columns_back(const operator_step& s, const launch_site& w);

}  // namespace troupe::dnn

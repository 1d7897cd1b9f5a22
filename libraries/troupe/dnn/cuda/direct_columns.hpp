// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <troupe/dnn/cuda/launches.hpp>

/// Steps of our own kernels that normalise over all axes but the channels, which are neighbours.
namespace troupe::dnn {

/// Returns the bytes of workspace of a normalisation, or its gradient; none if it is not over all axes but the
/// channels, or the number of channels is not a multiple of 8.
std::optional<std::uint64_t> column_workspace_of(op what, const normalization_attributes& f,
                                                 const tensor_shape& x) noexcept;

/// Returns true if the step is computed by these kernels, not by those of rows.
bool is_of_columns(const operator_step& s) noexcept;
result<void> normalize_columns(const operator_step& s, const launch_site& w);
result<void> normalize_columns_back(const operator_step& s, const launch_site& w);

}  // namespace troupe::dnn

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <troupe/dnn/cuda/launches/launches.hpp>
#include <troupe/dnn/operations/normalization/attributes.hpp>

/// Stored-type steps of normalizations over all axes but the channels, for tensors whose channels are neighbors in
/// memory.
namespace troupe::dnn {

/// Returns the bytes of workspace of a normalization or its gradient. Returns nullopt if these kernels cannot compute
/// it: it is not over all axes but the channels, it is an RMS normalization, or the number of channels is not a
/// multiple of 8.
std::optional<std::uint64_t> column_workspace_of(op what, const normalization_attributes& a,
                                                 const tensor_shape& x) noexcept;

/// Returns true if these kernels compute the stored-type step `s`, false if the kernels for rows do. Precondition: `s`
/// is a normalization or its gradient.
bool is_of_columns(const operator_step& s) noexcept;
result<void> enqueue_column_normalization(const operator_step& s, const launch_context& on);
result<void> enqueue_column_normalization_gradient(const operator_step& s, const launch_context& on);

}  // namespace troupe::dnn

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/cuda/kernels/attention_arguments.hpp>
#include <troupe/dnn/cuda/launches/launches.hpp>

/// Decoding: attention of few queries, with q, k and v of one half type, which the kernels read as they are stored.
namespace troupe::dnn {

/// Returns true if the decoding kernels can compute the step: it is an attention whose options, q, k and v they
/// support. If the step has outputs, their types must be supported: f32 for the statistics, f32 or the type of q for y.
bool is_stored_type_attention(const operator_step& s) noexcept;

/// Returns the number of parts into which the keys of each sequence are divided.
std::int64_t parts_of_decoding(const attention_geometry& g) noexcept;
/// Enqueues the attention, but not the kernel that combines the parts' results.
result<void> enqueue_decoding(const operator_step& s, const kernel_arguments::attention_arguments& a,
                              const launch_context& on);

}  // namespace troupe::dnn

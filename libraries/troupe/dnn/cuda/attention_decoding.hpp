// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/cuda/attention_arguments.hpp>
#include <troupe/dnn/cuda/launches.hpp>

/// Attention of few rows from q, k and v as they are stored, in one half type.
namespace troupe::dnn {

/// Returns true if a step of `op::attention` is computed by these kernels: if its q, k and v have supported types and
/// shapes, and begin at multiples of 16 bytes. Outputs, if the step has some, must be supported, too: statistics in
/// f32, y in f32 or the half type.
bool is_direct_attention(const operator_step& s) noexcept;

/// Returns the number of parts into which the keys of each sequence are divided.
std::int64_t parts_of_decoding(const attention_geometry& g) noexcept;
/// Enqueues everything but the combination of the parts.
result<void> decode_attention(const operator_step& s, const kernel_arguments::attending& a, const launch_site& w);

}  // namespace troupe::dnn

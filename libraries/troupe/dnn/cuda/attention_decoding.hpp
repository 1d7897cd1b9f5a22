// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/cuda/attention_arguments.hpp>
#include <troupe/dnn/cuda/launches.hpp>

/// Attention of few rows from q, k and v as they are stored, in one half type.
namespace troupe::dnn {

/// Whether a step of `op::attention` is computed so, if its q, k and v have the types and shapes that it has now, and
/// begin at multiples of 16 bytes. If it has outputs, they count, too: statistics in f32, y in f32 or the half type.
bool is_direct_attention(const operator_step& s) noexcept;

/// Returns into how many parts the keys of each sequence are divided.
std::int64_t parts_of_decoding(const attention_geometry& g) noexcept;
/// Enqueues all but the combination of the parts.
result<void> decode_attention(const operator_step& s, const kernel_arguments::attending& a, const launch_site& w);

}  // namespace troupe::dnn

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bench/gpu/graph_pair.hpp>

/// Comparisons of operations that are limited by the GPU's memory bandwidth with copies within that memory.
namespace troupe::bench {

/// Returns the seconds of a request, and the seconds in which copies move as many bytes. Kernels that are generated for
/// the request are compiled before.
pair_of_medians against_copies(int rounds, const dnn_sides& on, const dnn::computation& r, double bytes);

/// Computes a small graph with the reference, and compares the result with memory that the device has written.
std::string difference_from_reference(const device& gpu, const dnn::graph& g);

}  // namespace troupe::bench

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/dnn/encoded_graph.hpp>
#include <vector>

namespace troupe::dnn {

/// Computes a graph in double precision: the definition that engines are tested against. Returns the numbers of each
/// tensor, in row-major order of its axes whatever its strides; none for a tensor between nodes that no node computes.
/// Memory that the graph reads must be this process's; none is written. A tensor that the graph writes has the numbers
/// that its memory would have, rounded to its type. Where the graph also reads that tensor, it reads the numbers from
/// before the write. Only a conversion rounds other tensors. Precondition: the types are real, and the extents and the
/// numbers of each node fit its tensors.
std::vector<std::vector<double>> evaluate(const encoded_graph& g);

/// Returns the present numbers of each tensor that a graph reads in memory; none for the others.
std::vector<std::vector<double>> numbers_read(const encoded_graph& g);
/// Evaluates a graph with numbers that it read before, as if each number had been moved up or down at random by some
/// roundings of f32, or of f64 if the graph has f64. All such results are as correct as the exact ones. They differ
/// much where a small difference matters: near the middle between two numbers of a half type, or where large numbers
/// cancel.
std::vector<std::vector<double>> evaluate_with_roundings(const encoded_graph& g,
                                                         const std::vector<std::vector<double>>& read,
                                                         std::uint64_t seed);

}  // namespace troupe::dnn

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/dnn/graph/encoded_graph.hpp>
#include <vector>

namespace troupe::dnn {

/// Computes a graph in double precision: the definition that engines are tested against. Returns the elements of each
/// tensor, in row-major order of its axes whatever its strides; none for a tensor between nodes that no node computes.
/// Reads this process's memory, and writes none: a tensor that the graph writes has the elements that its memory would
/// have, rounded to its type, and a node that reads this memory gets the old elements. Other tensors are rounded only
/// by conversions. Preconditions: all types are floating, integer or bool, and the extents and attributes of each node
/// fit its tensors.
std::vector<std::vector<double>> evaluate(const encoded_graph& g);

/// Returns the current elements of each tensor in memory that a graph reads; an empty list for other tensors.
std::vector<std::vector<double>> elements_read(const encoded_graph& g);
/// Evaluates a graph with the elements `read` that `elements_read` returned. Moves computed numbers up or down at
/// random, by some rounding errors of f32, or of f64 if the graph has f64. All such results are as correct as the exact
/// ones. They differ much where a small difference matters: near the middle between two numbers of a half type, or
/// where large numbers cancel.
std::vector<std::vector<double>> evaluate_with_roundings(const encoded_graph& g,
                                                         const std::vector<std::vector<double>>& read,
                                                         std::uint64_t seed);

}  // namespace troupe::dnn

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/seen.hpp>
#include <vector>

namespace troupe::dnn {

/// Computes a graph in double precision: the definition that engines are tested against. Returns the numbers of each
/// tensor, in row-major order of its indexes whatever its strides; none for a tensor between nodes that no node
/// computes. Memory that the graph reads must be this process's; none is written. A tensor that the graph writes has
/// the numbers that its memory would have, rounded to its type, also where it is read, which is before; only a
/// conversion rounds others. Precondition: the types are real, and the extents and the numbers of each node fit its
/// tensors.
std::vector<std::vector<double>> evaluate(const seen_graph& g);

}  // namespace troupe::dnn

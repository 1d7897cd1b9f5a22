// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/cuda/kernels/rows_arguments.hpp>
#include <troupe/dnn/cuda/launches/launches.hpp>
#include <troupe/dnn/steps/graph_analysis.hpp>

/// Stored-type steps: their kernels read and write f32 and half types as they are stored. For all other steps that our
/// own kernels compute, tensors of half types are first copied to f32.
namespace troupe::dnn {

/// Returns matches of nodes that are not matched yet: gradients of normalizations over rows, pooling and its gradient,
/// and attention of few queries. A match's first node is the computed one; its other nodes convert or write the results
/// of that node.
std::vector<fusion_match> stored_type_matches(const graph_analysis& m);

/// Returns the computed node of a match as a step with the inputs, outputs and workspace of `s`.
operator_step stored_type_step(const encoded_graph& g, const fusion_match& m, const fused_step& s);
result<void> enqueue_stored_type(const operator_step& s, const launch_context& on);
/// Enqueues a pooling, or its gradient, of tensors as they are stored.
result<void> enqueue_stored_pooling(const operator_step& s, const launch_context& on);

inline kernel_arguments::typed_memory typed_memory_at(const location& l, const launch_context& on) {
  return {on.at(l), l.type};
}

}  // namespace troupe::dnn

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/cuda/launches.hpp>
#include <troupe/dnn/cuda/rows_arguments.hpp>
#include <troupe/dnn/steps/fusion_matches.hpp>

/// Steps of our own kernels that read and write f32 and half types as they are stored, where other steps need copies in
/// f32.
namespace troupe::dnn {

/// Returns matches of nodes that are not matched yet: normalisations over rows or channels, and attention of few
/// queries. A match's first node is the one that is computed; the others convert or write its results.
std::vector<fusion_match> direct_matches(const graph_analysis& m);

/// Returns the step of a match.
operator_step direct_step(const encoded_graph& g, const fusion_match& c, const vendor_step& s);
result<void> enqueue_direct(const operator_step& s, const launch_site& w);

inline kernel_arguments::numbers_of_rows numbers_at(const location& l, const launch_site& w) {
  return {w.at(l), l.type};
}

}  // namespace troupe::dnn

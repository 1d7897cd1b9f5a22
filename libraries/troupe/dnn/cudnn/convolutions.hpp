// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/cudnn/operations.hpp>
#include <troupe/dnn/steps/links.hpp>
#include <troupe/dnn/steps/steps.hpp>

namespace troupe::dnn::cudnn {

/// Nodes of a graph as one of cuDNN's, which has an engine for it or not.
struct sketch {
  claim what;
  dtype factors;                         ///< in which they are multiplied
  std::vector<std::int64_t> distrusted;  ///< numbers of cuDNN's engines that are not to be taken
  operations drawn;
};

/// Draws a convolution or one of its gradients with what follows it, in all ways that cuDNN may have, the longest
/// first. `aligned`: memory of the graph at multiples of 16 bytes.
std::vector<sketch> sketches_of_convolution(const seen_graph& g, const links& l, std::size_t node,
                                            const std::vector<bool>& aligned, bool exact);

}  // namespace troupe::dnn::cudnn

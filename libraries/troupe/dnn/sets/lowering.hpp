// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/dnn/graph/encoded_graph.hpp>
#include <vector>

namespace troupe::dnn::sets {

/// A graph in which normalizations over a whole batch only compute what is equal for all elements of a set: statistics,
/// and sums for gradients. Pointwise operations compute the elements from them, together with those that follow.
///
/// A set of a batch normalization has more elements than a block of threads can hold, so that they are read twice
/// anyway; and there are too few sets for a GPU, unless many blocks share each, as only a kernel without elements among
/// its results allows.
class lowered_graph {
 public:
  /// Changes normalizations over more elements than `most_held`, by default as many as a block of threads can hold.
  /// Precondition: `g` outlives this object.
  explicit lowered_graph(const encoded_graph& g, std::int64_t most_held = std::int64_t{512} * 32);
  lowered_graph(const lowered_graph&) = delete;

  /// Returns the graph; its memory has the indexes that it has in the original.
  const encoded_graph& graph() const noexcept { return graph_; }

 private:
  std::vector<std::uint64_t> words_;
  encoded_graph graph_;
};

}  // namespace troupe::dnn::sets

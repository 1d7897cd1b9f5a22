// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <troupe/dnn/graph/encoded_graph.hpp>
#include <troupe/dnn/requests/computation.hpp>
#include <vector>

namespace troupe::dnn {

/// What the choice of a plan may depend on: what `write_key` writes, and nothing else. Of the addresses of its graph,
/// only `is_aligned` is that of the computation.
class graph_kind {
 public:
  /// Precondition: the encoded graph of the computation is not empty.
  graph_kind(const computation& r, std::uint64_t alignment);
  graph_kind(const graph_kind&) = delete;

  const encoded_graph& graph() const noexcept { return graph_; }
  const computation_options& options() const noexcept { return options_; }

 private:
  std::vector<std::byte> encoded_;
  encoded_graph graph_;
  computation_options options_;
};

inline bool is_aligned(const encoded_memory& m, std::uint64_t alignment) noexcept { return m.address % alignment == 0; }

/// Writes the key of a computation's plan to `to`: the structure of its graph, its options, and, if `alignment` is not
/// 1, which memory begins at a multiple of it.
void write_key(std::string& to, const computation& r, std::uint64_t alignment);

}  // namespace troupe::dnn

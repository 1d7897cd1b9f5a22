// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <troupe/dnn/graph/encoded_graph.hpp>
#include <vector>

namespace troupe::dnn {

/// The node that writes each tensor of a graph, and the nodes that read it.
class def_use {
 public:
  explicit def_use(const encoded_graph& g) : all_(g.tensors().size()) {
    for (std::size_t i = 0; i < g.nodes().size(); ++i) {
      const encoded_node& n = g.nodes()[i];
      for (const std::uint16_t t : std::span(n.inputs).first(n.input_count)) all_[t].readers.push_back(i);
      for (const std::uint16_t t : std::span(n.outputs).first(n.output_count))
        all_[t].producer = i, all_[t].is_written = n.what == op::write;
    }
  }
  /// Returns the node that writes the tensor.
  std::optional<std::size_t> producer_of(std::uint16_t t) const noexcept { return all_[t].producer; }
  /// Returns the node that must run before the tensor is read. This is nullopt for memory: its readers get the content
  /// that it has before the graph runs, even if the graph also writes it.
  std::optional<std::size_t> source_of(std::uint16_t t) const noexcept {
    return all_[t].is_written ? std::nullopt : all_[t].producer;
  }
  /// Returns the nodes that read the tensor, in order. A node that reads it twice is listed twice.
  std::span<const std::size_t> readers_of(std::uint16_t t) const noexcept { return all_[t].readers; }
  /// Returns the node that reads the tensor, if exactly one node reads it, and does so once.
  std::optional<std::size_t> only_reader_of(std::uint16_t t) const noexcept {
    return all_[t].readers.size() == 1 ? std::optional(all_[t].readers[0]) : std::nullopt;
  }

 private:
  struct entry {
    std::optional<std::size_t> producer;
    bool is_written = false;
    std::vector<std::size_t> readers;
  };
  std::vector<entry> all_;
};

}  // namespace troupe::dnn

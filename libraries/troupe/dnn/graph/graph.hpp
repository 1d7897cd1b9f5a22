// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <troupe/base/containers/placed.hpp>
#include <troupe/dnn/graph/value.hpp>
#include <troupe/request/encoding/records.hpp>
#include <troupe/request/operands/operand.hpp>
#include <vector>

namespace troupe::dnn {

struct encoded_node;
struct encoded_tensor;
class encoded_graph;
namespace detail {
struct refusal;
}

/// The values that a request writes, and the operations that compute them. A value that several results use is computed
/// once. While a graph is a field of a request, it keeps its memory alive.
class graph {
 public:
  /// One tensor in memory. Several reads of the same tensor are one operand.
  struct operand {
    memory_range range;
    tensor_shape shape;
    dtype type;
    access_mode mode;
  };

  graph(std::initializer_list<written> all) : graph(std::span(all.begin(), all.size())) {}
  graph(const std::vector<written>& all) : graph(std::span(all)) {}
  graph(std::span<const written> all);

  // Used by the sources of this library.
  std::span<const encoded_node> nodes() const noexcept;
  std::span<const encoded_tensor> tensors() const noexcept;
  std::span<const operand> memory() const noexcept { return *memory_; }
  /// Calls `f(range)` for each operand in memory. `f` may replace the range.
  template <class F>
  void visit_memory(F&& f) {
    for (operand& m : *memory_) f(m.range);
  }
  /// Returns the reason why the graph is refused, such as the refusal of a value that it writes; null if it is not
  /// refused.
  const detail::refusal* refused() const noexcept;
  /// Returns the encoded graph that the worker received. Only in the worker.
  encoded_graph encoded() const noexcept;

  // Used by the codec.
  std::size_t encoded_bytes() const noexcept;
  void encode(std::byte* to) const noexcept;
  graph(const std::byte* encoded, std::size_t bytes) noexcept;

 private:
  struct parts;
  class builder;

  // Used in the application.
  placed<std::shared_ptr<const parts>> parts_;
  placed<std::vector<operand>> memory_;
  // Used in the worker; null if the encoding is damaged.
  const std::byte* encoded_ = nullptr;
};

/// Returns the names of the operations, such as "convolution, sum, relu, write".
std::string to_string(const graph& g);

}  // namespace troupe::dnn

namespace troupe {

template <>
struct operands_in<dnn::graph> : numbered_operands {
  template <class V>
  static void visit(const dnn::graph& g, V&& f) {
    for (const auto& m : g.memory()) f(&m, m.range, bytes_of(m.type), m.mode);
  }
  /// Returns ".read[1]" for the second tensor that is only read, and ".written[0]" for the first that is written.
  static std::string text_of(const dnn::graph& g, const void* place);
};

template <>
struct field_codec<dnn::graph> : records_codec<dnn::graph, 'T'> {};

}  // namespace troupe

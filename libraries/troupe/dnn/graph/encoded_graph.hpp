// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <troupe/base/dtype.hpp>
#include <troupe/dnn/graph/attributes.hpp>
#include <troupe/dnn/graph/op.hpp>
#include <troupe/request/block.hpp>
#include <troupe/request/operands/view_shape.hpp>

namespace troupe::dnn {

inline constexpr std::uint16_t no_tensor = 0xffff;
/// Bounds of the tensors, the nodes and the memory of a graph.
inline constexpr std::size_t most_tensors = no_tensor, most_nodes = most_tensors, most_memory = most_tensors;

/// A tensor of an encoded graph. In a batch of images, axis 0 is the image, axis 1 the channel, and the others are
/// spatial, whatever the strides are.
struct encoded_tensor {
  enum class place : std::uint8_t { intermediate, memory, number };  ///< intermediate: only between nodes
  dtype type;
  place where;
  std::uint16_t memory;  ///< index of the memory
  std::uint32_t unused;
  double number;
  tensor_shape shape;  ///< between nodes, a tensor is dense, and its last axis is the fastest
};
static_assert(sizeof(encoded_tensor) == 152);

/// A node of an encoded graph. Its inputs are outputs of earlier nodes, memory or numbers.
struct encoded_node {
  static constexpr std::size_t most_inputs = 12, most_outputs = 8;
  op what;
  std::uint8_t input_count = 0, output_count = 0, unused[5] = {};
  std::uint16_t inputs[most_inputs] = {}, outputs[most_outputs] = {};
  node_attributes attributes = {};

  /// Returns the number of inputs that hold values to compute with, which come first. The other inputs hold positions
  /// or counts: they are i32 in memory, or i64 for some operations, which engines read without conversion.
  std::size_t count_value_inputs() const noexcept;
};
static_assert(sizeof(encoded_node) == 176);

/// Memory that a graph reads or writes.
struct encoded_memory {
  std::uint64_t address;
  access_mode mode;
  std::uint8_t unused[7];
};

/// An encoded graph: engines compute it, and the reference evaluates it.
class encoded_graph {
 public:
  encoded_graph() noexcept = default;
  /// Reads an encoded graph in place. If the encoding is damaged, the graph has no nodes.
  encoded_graph(const std::byte* encoded, std::size_t bytes) noexcept;
  /// Reads an encoded graph without checking it. Precondition: the encoding is undamaged.
  explicit encoded_graph(const std::byte* encoded) noexcept;

  bool empty() const noexcept { return nodes_.empty(); }
  std::span<const encoded_node> nodes() const noexcept { return nodes_; }
  std::span<const encoded_tensor> tensors() const noexcept { return tensors_; }
  std::span<const encoded_memory> memory() const noexcept { return memory_; }
  /// Returns the bytes of the head, the nodes and the tensors. They are equal for graphs that differ only in the
  /// addresses of their memory.
  std::span<const std::byte> structure() const noexcept;

  /// The head of the encoding; the nodes, tensors and memory follow it.
  struct head {
    std::uint32_t nodes, tensors, memory, reserved;
  };
  static constexpr std::size_t encoded_bytes(std::size_t nodes, std::size_t tensors, std::size_t memory) noexcept {
    return sizeof(head) + nodes * sizeof(encoded_node) + tensors * sizeof(encoded_tensor) +
           memory * sizeof(encoded_memory);
  }

 private:
  bool is_sound() const noexcept;

  std::span<const encoded_node> nodes_;
  std::span<const encoded_tensor> tensors_;
  std::span<const encoded_memory> memory_;
};

/// A value for each axis of a tensor: an extent, a stride or an index.
using axis_values = std::array<std::int64_t, tensor_shape::max_rank>;

/// Returns the strides of a dense tensor; the last axis is the fastest.
inline axis_values dense_strides(const tensor_shape& s) noexcept {
  axis_values out{};
  std::int64_t stride = 1;
  for (std::size_t i = s.rank; i-- > 0; stride *= s.extents[i]) out[i] = stride;
  return out;
}
/// Returns the number of elements; -1 if an extent is negative or the number overflows.
constexpr std::int64_t elements_of(const tensor_shape& s) noexcept {
  std::int64_t n = 1;
  for (std::size_t i = 0; i < s.rank; ++i)
    if (s.extents[i] < 0 || __builtin_mul_overflow(n, s.extents[i], &n)) return -1;
  return n;
}
/// Returns the number of elements in memory from a tensor's first one to its last one, with those between them that
/// belong to others. Precondition: the tensor has elements.
constexpr std::int64_t spanned_elements_of(const tensor_shape& s) noexcept {
  std::int64_t last = 0;
  for (std::size_t i = 0; i < s.rank; ++i) last += (s.extents[i] - 1) * s.strides[i];
  return last + 1;
}

}  // namespace troupe::dnn

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <troupe/dnn/steps/locations.hpp>
#include <troupe/epilogue/op.hpp>
#include <variant>
#include <vector>

/// A graph as a list of steps, for engines that compute each of them on their own.
namespace troupe::dnn {

/// Operations on elements, computed in one go over all of them.
struct elementwise_kernel {
  struct operation {
    enum class kind : std::uint8_t { read, number, apply, round, write, random };
    kind what{};
    epilogue::op function{};            ///< of apply
    dtype type{};                       ///< of round
    std::uint16_t operand = 0;          ///< of read and write; of random: its places are the positions of the elements
    std::uint16_t from[3] = {0, 0, 0};  ///< operations before it: of apply; the first of round and write; of random:
                                        ///< which of the sequences
    double value = 0;                   ///< of number
  };
  /// A sequence of random numbers.
  struct sequence {
    random_attributes numbers;
    std::optional<location> words;  ///< of the seed
  };
  tensor_shape extents;
  std::vector<operation> operations;
  std::vector<location> operands;
  std::vector<sequence> sequences = {};
  iteration_space over;                        ///< of the operands, the one first whose order in memory matters most
  std::vector<std::size_t> position_in_space;  ///< operand i is operand position_in_space[i] of the iteration space
};

/// A node that is no operation on elements. Its tensors have no gaps, but for inputs beyond `count_numbers()`, which
/// are as they lie in memory.
struct operator_step {
  op what{};
  node_attributes attributes;
  std::vector<location> inputs, outputs;
  location workspace = {};  ///< memory beside them, of bytes; see workspace.hpp
};

/// Nodes that an engine computes together, in a way of its own, with what they read and write as it lies in memory.
struct fusion_match {
  /// A tensor, and how it must lie. What is read and lies otherwise is copied; memory that is written lies so.
  struct tensor {
    std::uint16_t number;
    dtype type;
    tensor_shape shape;
    bool copied = false;  ///< even if it lies so: its address does not do
  };
  std::vector<std::uint16_t> nodes;
  std::uint16_t at = 0;  ///< the first of them before which all is computed that they need
  std::vector<tensor> inputs, outputs;
  std::uint64_t workspace = 0;  ///< bytes that it needs meanwhile
};
/// Of a fusion match.
struct vendor_step {
  std::size_t which = 0;
  std::vector<location> inputs, outputs;
  location workspace = {};  ///< its workspace
};

/// All of a graph.
struct step_list {
  dtype numbers{};  ///< what is computed in: f32 or f64
  std::vector<std::variant<elementwise_kernel, operator_step, vendor_step>> steps;
  std::vector<std::uint64_t> buffers;  ///< where each begins in memory between steps, a multiple of 256 bytes
  std::uint64_t bytes = 0;             ///< of that memory
};

/// How large an elementwise kernel may be; longer ones are divided. And how many numbers a step needs beside its
/// tensors, if any does.
struct elementwise_limits {
  std::size_t operations = SIZE_MAX, operands = SIZE_MAX, sequences = SIZE_MAX;
  std::int64_t (*workspace)(const operator_step&) = nullptr;
};

/// Plans the steps of a graph. Operations on elements that follow each other become one elementwise kernel. What only
/// moves elements is a view of them, until a step needs them without gaps. Of matched nodes, no other reads what is no
/// output.
step_list steps_of(const encoded_graph& g, const elementwise_limits& most = {},
                   std::span<const fusion_match> matches = {});

}  // namespace troupe::dnn

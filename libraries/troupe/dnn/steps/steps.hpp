// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <troupe/dnn/steps/locations.hpp>
#include <troupe/epilogue/op.hpp>
#include <variant>
#include <vector>

/// A graph as a list of steps, for engines that run each step by itself.
namespace troupe::dnn {

/// Elementwise operations, computed in one pass over all elements.
struct elementwise_kernel {
  struct operation {
    enum class kind : std::uint8_t { read, number, apply, round, write, random };
    kind what{};
    epilogue::op function{};    ///< for apply
    dtype type{};               ///< for round
    std::uint16_t operand = 0;  ///< for read and write; for random: its offsets are the positions of the elements
    std::uint16_t from[3] = {0, 0, 0};  ///< earlier operations, its arguments: all for apply, the first for round and
                                        ///< write; for random: the number of the sequence
    double value = 0;                   ///< for number
  };
  /// A sequence of random numbers.
  struct sequence {
    random_attributes numbers;
    std::optional<location> words;  ///< u32 words of the seed, if it is in memory
  };
  tensor_shape extents;
  std::vector<operation> operations;
  std::vector<location> operands;
  std::vector<sequence> sequences = {};
  iteration_space over;                       ///< over the operands, first the one whose order in memory matters most
  std::vector<std::size_t> operand_in_space;  ///< number of operand i in the iteration space
};

/// A node that is not elementwise. Its tensors are contiguous, except inputs from `count_numbers()` on, which keep
/// their strides.
struct operator_step {
  op what{};
  node_attributes attributes;
  std::vector<location> inputs, outputs;
  location workspace = {};  ///< see step_workspace.hpp
};

/// Nodes that one call of a vendor library computes together, with the layouts that it needs.
struct fusion_match {
  /// A tensor, and the type and layout that the call needs. Inputs with another layout are copied; outputs in memory of
  /// the graph already have this one.
  struct tensor {
    std::uint16_t number;
    dtype type;
    tensor_shape shape;
    bool copied = false;  ///< true if it must be copied in any case, because its address is not aligned
  };
  std::vector<std::uint16_t> nodes;
  std::uint16_t at = 0;  ///< the first node that comes after all nodes that write its inputs
  std::vector<tensor> inputs, outputs;
  std::uint64_t workspace = 0;  ///< bytes of workspace
};
/// The step that computes a fusion match.
struct vendor_step {
  std::size_t which = 0;  ///< number of the match
  std::vector<location> inputs, outputs;
  location workspace = {};
};

/// The steps of a graph, in the order in which they run.
struct step_list {
  dtype numbers{};  ///< the type in which elements are computed: f32 or f64
  std::vector<std::variant<elementwise_kernel, operator_step, vendor_step>> steps;
  std::vector<std::uint64_t> buffers;  ///< offsets in the memory between steps, multiples of 256 bytes
  std::uint64_t bytes = 0;             ///< size of that memory
};

/// Limits of one elementwise kernel; the planner splits longer ones. `workspace` returns how many numbers of workspace
/// the engine needs for a step; null: none.
struct elementwise_limits {
  std::size_t operations = SIZE_MAX, operands = SIZE_MAX, sequences = SIZE_MAX;
  std::int64_t (*workspace)(const operator_step&) = nullptr;
};

/// Plans the steps of a graph. Consecutive elementwise operations become one kernel. Nodes that only move elements
/// become views, until a step needs them contiguous. Only the outputs of a match are read by other nodes.
step_list steps_of(const encoded_graph& g, const elementwise_limits& limits = {},
                   std::span<const fusion_match> matches = {});

}  // namespace troupe::dnn

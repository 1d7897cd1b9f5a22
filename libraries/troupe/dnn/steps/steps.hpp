// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/steps/places.hpp>
#include <troupe/epilogue/op.hpp>
#include <variant>
#include <vector>

/// A graph as a list of steps, for engines that compute each of them on their own.
namespace troupe::dnn {

/// Operations on elements, computed in one go over all of them.
struct pass {
  struct operation {
    enum class kind : std::uint8_t { read, number, apply, round, write };
    kind what{};
    epilogue::op function{};            ///< of apply
    dtype type{};                       ///< of round
    std::uint16_t operand = 0;          ///< of read and write
    std::uint16_t from[3] = {0, 0, 0};  ///< operations before it: of apply; the first of round and write
    double value = 0;                   ///< of number
  };
  tensor_shape extents;
  std::vector<operation> operations;
  std::vector<location> operands;
  walk over;                        ///< of the operands, the one first whose order in memory matters most
  std::vector<std::size_t> walked;  ///< operand i is operand walked[i] of the walk
};

/// A node that is no operation on elements. Its tensors have no gaps.
struct whole_step {
  op what{};
  form numbers;
  std::vector<location> inputs, outputs;
  location room;  ///< memory beside them, of bytes; see room.hpp
};

/// All of a graph.
struct step_list {
  dtype numbers{};  ///< what is computed in, and kept between steps: f32 or f64
  std::vector<std::variant<pass, whole_step>> steps;
  std::vector<std::uint64_t> buffers;  ///< where each begins in memory between steps, a multiple of 64 bytes
  std::uint64_t bytes = 0;             ///< of that memory
};

/// How large a pass may be. Longer ones are divided.
struct pass_limits {
  std::size_t operations = SIZE_MAX, operands = SIZE_MAX;
};

/// Plans the steps of a graph. Operations on elements that follow each other become one pass. What only moves elements
/// is a view of them, until a step needs them without gaps.
step_list steps_of(const seen_graph& g, const pass_limits& most = {});

}  // namespace troupe::dnn

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <troupe/dnn/graph/kinds.hpp>
#include <troupe/dnn/operations/random/attributes.hpp>
#include <troupe/dnn/steps/iteration_space.hpp>
#include <troupe/dnn/steps/locations.hpp>
#include <troupe/epilogue/op.hpp>
#include <variant>
#include <vector>

/// The plan of a graph: a list of steps, each of which an engine runs as one or more kernels.
namespace troupe::dnn {

/// Elementwise operations, computed in one pass over all elements.
struct elementwise_kernel {
  struct operation {
    enum class kind : std::uint8_t {
      read,
      number,
      apply,
      round,
      write,
      random,
      reduce,
      multiply_add,
      position,
      read_at
    };
    /// What a reduction combines: values, products of two values, or moments of values. Of moments, it is their mean,
    /// which must be the reduction, or, of squares, the mean of their squared distances from the second argument, which
    /// must be the reduction to the mean.
    enum class reducing : std::uint8_t { values, products, moments, squares };
    kind what{};
    epilogue::op function{};     ///< apply: the function
    reduction_kind reduction{};  ///< reduce, which only set kernels have: how elements are combined
    reducing form{};             ///< reduce: which elements; all but values are sums or means
    dtype type{};                ///< round: the type to round to
    std::uint16_t operand = 0;   ///< read, write, read_at: the operand; random, position: that without memory whose
                                 ///< offsets are positions
    /// The operations that compute the arguments; of read_at, an index, then numbers: how many indexes the operand has
    /// along the axis, whose stride it does not have otherwise, and this stride; of random, the sequence's index.
    /// multiply_add, which only set kernels have, is the first times the second plus the third, rounded once.
    std::uint16_t from[3] = {0, 0, 0};
    double value = 0;  ///< number: its value

    /// Returns true if `from` has operations.
    bool has_arguments() const noexcept {
      return what != kind::read && what != kind::number && what != kind::random && what != kind::position;
    }
  };
  /// A sequence of random numbers.
  struct sequence {
    random_attributes attributes;
    std::optional<location> words;  ///< words of the seed, if it is in memory; see random_seed
  };
  tensor_shape extents;
  std::vector<operation> operations;
  std::vector<location> operands;
  std::vector<sequence> sequences = {};
  iteration_space over;                       ///< the elements of all operands, in the order of its first operand
  std::vector<std::size_t> operand_in_space;  ///< for each operand: its index in the iteration space
};

/// A node that is not elementwise. Its tensors are dense, and have the type in which the graph is computed; inputs from
/// `count_value_inputs()` on are i32 or i64 instead.
struct operator_step {
  op what{};
  node_attributes attributes;
  std::vector<location> inputs, outputs;
  location workspace = {};  ///< memory that the step needs while it runs: see step_workspace.hpp

  /// Returns an input or output by its index among the inputs or outputs of the node; null if the index is `absent`.
  const location* input(std::size_t k) const noexcept { return k != absent ? &inputs[k] : nullptr; }
  const location* output(std::size_t k) const noexcept { return k != absent ? &outputs[k] : nullptr; }
};

/// The step for a fusion match, also for a match of one node. The planner of steps decides only where it runs and which
/// copies it needs; what computes it is the engine's: see vendor_kernel, and cuda_plan for stored-type kernels.
struct fused_step {
  std::size_t match = 0;  ///< index of the match
  std::vector<location> inputs, outputs;
  location workspace = {};
};

/// The steps of a graph, in the order in which they run.
struct step_list {
  dtype compute_type{};  ///< the type in which elements are computed: f32 or f64
  std::vector<std::variant<elementwise_kernel, operator_step, fused_step>> steps;
  std::vector<std::uint64_t> buffers;  ///< offset of each buffer in the plan's workspace, a multiple of 256 bytes
  std::uint64_t bytes = 0;             ///< bytes of the plan's workspace
};

}  // namespace troupe::dnn

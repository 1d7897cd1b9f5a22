// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <troupe/cuda_on_host/translate/internal/splitting/variables.hpp>
#include <unordered_set>
#include <utility>
#include <vector>

namespace troupe::cuda_on_host {

using token_range = std::pair<std::size_t, std::size_t>;  // [begin, end)

/// A step of a split kernel.
struct step {
  enum class form : std::uint8_t {
    block_text,  ///< statements that run once for the block
    region,      ///< statements that run for each thread
    scope,       ///< { ... }
    branch,      ///< if: one or two steps inside
    loop,        ///< for, while: the steps in `inner`, then those in `after`
    do_loop,     ///< do: as `loop`, with the condition at the end
  };

  form kind = form::region;
  std::vector<token_range> text;
  token_range condition{0, 0};
  bool is_uniform = false;    ///< the condition has the same value for all threads
  bool is_constexpr = false;  ///< if constexpr
  /// index into split_plan::segments for a region, or for a condition that each thread evaluates; otherwise -1
  int segment = -1;
  std::vector<step> inner, other, after;
};

/// The variables of a region, or of a condition that each thread evaluates.
struct segment {
  /// in the order of their declarations, including the variables from which recomputed ones follow
  std::set<int> uses;
  std::set<int> declares;  ///< the variables among `uses` that the region declares
};

/// The steps into which a kernel's body is split at its barriers.
struct split_plan {
  std::vector<step> steps;
  std::vector<segment> segments;
  std::set<int> crossing;  ///< variables that live across a barrier
  /// constant expressions on types, which must all be true for the plan to be valid
  std::vector<std::string> conditions;
  std::string obstacle;  ///< why there is no plan
};

split_plan make_plan(const token_list& source, const unit& u, const definition& kernel, const body_outline& body,
                     const level_variables& variables, const std::vector<kernel_parameter>& parameters,
                     const std::unordered_set<std::size_t>& steps);

}  // namespace troupe::cuda_on_host

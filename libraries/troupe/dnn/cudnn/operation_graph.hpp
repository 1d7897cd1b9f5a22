// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/cudnn/operations.hpp>
#include <troupe/dnn/cudnn/vendor.hpp>
#include <troupe/dnn/steps/fusion_matches.hpp>
#include <troupe/dnn/steps/steps.hpp>
#include <vector>

namespace troupe::dnn::cudnn {

/// Nodes of a graph as one of cuDNN's, which has an engine for it or not.
struct sketch {
  fusion_match what;
  operations drawn;                           ///< its arguments: the claim's inputs and outputs, then `extra`
  std::size_t factors = 2;                    ///< the claim's first inputs, for which every kernel of cuDNN waits
  bool exact_f32 = false;                     ///< its factors are f32, which may have to be exact
  std::vector<std::int64_t> distrusted = {};  ///< numbers of cuDNN's engines that are not to be taken
  std::vector<std::uint64_t> extra = {};      ///< bytes of further arguments, which lie in the workspace
  double unit = 1;                            ///< of the numbers on which plans are tried
};

constexpr bool is_half(dtype t) noexcept { return t == dtype::f16 || t == dtype::bf16; }

/// Draw a node with what follows it, in all ways that cuDNN may have, the best first. `exact`: factors of f32 are not
/// rounded to fewer digits. `repeatable`: results are the same each time.
std::vector<sketch> sketches_of(const model& m, std::size_t node, const wishes& w);
std::vector<sketch> sketches_of_convolution(const model& m, std::size_t node, bool exact);
std::vector<sketch> sketches_of_attention(const model& m, std::size_t node);
std::vector<sketch> sketches_of_attention_gradient(const model& m, std::size_t node, bool repeatable);

}  // namespace troupe::dnn::cudnn

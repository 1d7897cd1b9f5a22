// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/operations/attention/attention.hpp>
#include <troupe/dnn/requests/computation.hpp>

/// Attention as requests. The fields from `scale` on are those of attention_options. Lengths, offsets, pages and the
/// step are i32 in memory.
namespace troupe::dnn {

/// y = softmax(scores) * v. Tensors are batch x heads x tokens x width.
struct attention_forward {
  in_any q, k, v;
  out_any y;
  std::optional<out_any> statistics = {};  ///< batch x heads x queries; the gradient reads them
  std::optional<double> scale = {}, soft_cap = {};
  std::optional<in_any> bias = {};  ///< batch x heads x queries x keys; each extent may be 1
  bool alibi = false;
  attention_window window = {};
  std::optional<in_any> query_lengths = {}, key_lengths = {};  ///< for sequences that are rows of the batch
  std::optional<in_any> query_offsets = {}, key_offsets = {};  ///< for sequences that are packed in one row
  std::optional<in_any> pages = {};                            ///< pages of each sequence in the pools k and v
  double dropout = 0;                                          ///< the probability that an attention weight becomes 0
  std::uint64_t seed = 0;
  std::uint32_t offset = 0;
  std::optional<in_any> step = {};  ///< added to the offset
  computation_options options = {};
  TROUPE_REQUEST("dnn.attention_forward", q, k, v, y, statistics, scale, soft_cap, bias, alibi, window, query_lengths,
                 key_lengths, query_offsets, key_offsets, pages, dropout, seed, offset, step, options)
  computation sent() const;
};

/// The gradients of q, k, v and bias, computed from dy, the gradient of y. y and statistics must be what the forward
/// request wrote, and the options must be those of the forward request.
struct attention_backward {
  in_any dy, q, k, v, y, statistics;
  out_any dq, dk, dv;
  std::optional<double> scale = {}, soft_cap = {};
  std::optional<in_any> bias = {};
  std::optional<out_any> dbias = {};  ///< only with a bias
  bool alibi = false;
  attention_window window = {};
  std::optional<in_any> query_lengths = {}, key_lengths = {}, query_offsets = {}, key_offsets = {};
  double dropout = 0;
  std::uint64_t seed = 0;
  std::uint32_t offset = 0;
  std::optional<in_any> step = {};
  computation_options options = {};
  TROUPE_REQUEST("dnn.attention_backward", dy, q, k, v, y, statistics, dq, dk, dv, scale, soft_cap, bias, dbias, alibi,
                 window, query_lengths, key_lengths, query_offsets, key_offsets, dropout, seed, offset, step, options)
  computation sent() const;
};

}  // namespace troupe::dnn

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/operations/attention/attributes.hpp>
#include <troupe/dnn/steps/attention_geometry.hpp>
#include <troupe/dnn/steps/steps.hpp>

namespace troupe::dnn {

/// Returns the geometry of an attention step. `memory(location)` returns the address of an i32 tensor, as a `void*`.
template <class Memory>
attention_geometry geometry_of(const operator_step& s, Memory&& memory) {
  const auto a = s.attributes.as<attention_attributes>();
  const attention_inputs at(a, s.what == op::attention_gradient);
  const tensor_shape &q = s.inputs[at.q].shape, &k = s.inputs[at.k].shape;
  const auto numbers = [&](std::size_t input) -> integer_view {
    if (input == absent) return {};
    const location& l = s.inputs[input];
    return {static_cast<const std::int32_t*>(static_cast<const void*>(memory(l))), l.shape.strides[0],
            l.shape.rank > 1 ? l.shape.strides[1] : 0};
  };
  attention_geometry g{.scale = a.scale,
                       .soft_cap = a.soft_cap,
                       .dropout = a.dropout,
                       .left = a.left,
                       .right = a.right,
                       .bottom_right = a.bottom_right,
                       .has_alibi = a.has_alibi,
                       .has_bias = a.has_bias,
                       .query_layout = a.queries,
                       .key_layout = a.keys,
                       .batch = q.extents[0],
                       .heads = q.extents[1],
                       .key_heads = k.extents[1],
                       .shared = q.extents[1] / k.extents[1],
                       .queries = q.extents[2],
                       .keys = k.extents[2],
                       .width = q.extents[3],
                       .value_width = s.inputs[at.v].shape.extents[3],
                       .page_tokens = 0,
                       .pool = 0,
                       .query_numbers = numbers(at.queries),
                       .key_numbers = numbers(at.keys),
                       .pages = numbers(at.pages),
                       .step = numbers(at.step),
                       .seed = a.seed,
                       .offset = a.offset,
                       .bias_extents = {},
                       .bias_strides = {}};
  if (a.queries == sequence_layout::offsets) g.batch = s.inputs[at.queries].shape.extents[0] - 1;
  if (a.has_pages != 0) {
    g.page_tokens = k.extents[2], g.pool = k.extents[0];
    g.keys = g.page_tokens * s.inputs[at.pages].shape.extents[1];
  }
  if (a.has_bias != 0) {
    const tensor_shape& bias = s.inputs[at.bias].shape;
    const axis_values strides = dense_strides(bias);
    for (std::size_t i = 0; i < 4; ++i)
      g.bias_extents[i] = bias.extents[i], g.bias_strides[i] = bias.extents[i] == 1 ? 0 : strides[i];
  }
  return g;
}

}  // namespace troupe::dnn

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/dnn/operations/ctc/attributes.hpp>
#include <troupe/dnn/steps/step_workspace.hpp>

namespace troupe::dnn {

recurrence_workspace::recurrence_workspace(const recurrence_gradient_attributes& a,
                                           const detail::recurrence_layout& l) noexcept {
  dh = l.lines() * l.gate_gradients();
  dc = dh + l.batch * l.width;
  projected = dc + (has_c(l.cell) ? l.batch * l.hidden : 0);
  x = projected + (a.has_projection != 0 ? l.lines() * l.width + l.batch * l.hidden : 0);
  count = x + (a.has_lengths != 0 ? l.lines() * l.inputs : 0);
}

ctc_workspace::ctc_workspace(const tensor_shape& logits, const tensor_shape& labels, bool gradient) noexcept {
  const std::int64_t time = logits.extents[0], batch = logits.extents[1];
  states = 2 * labels.extents[1] + 1;
  forward = time * batch;
  backward = forward + (gradient ? time : 2) * batch * states;
  next = backward + (gradient ? 2 * batch * states : 0);
  losses = next + (gradient ? batch * labels.extents[1] : 0);
  count = losses + (gradient ? batch : 0);
}

std::uint64_t workspace_bytes_of(const encoded_graph& g, const encoded_node& n, dtype compute_type) noexcept {
  const auto shape = [&](std::size_t k) -> const tensor_shape& { return g.tensors()[n.inputs[k]].shape; };
  switch (n.what) {
    case op::recurrence_gradient: {
      const auto a = n.attributes.as<recurrence_gradient_attributes>();
      const recurrence_gradient_places at(a);
      const recurrence_workspace workspace(a, detail::recurrence_layout(a, shape(at.x), shape(at.r)));
      return static_cast<std::uint64_t>(workspace.count) * bytes_of(compute_type);
    }
    case op::ctc_loss:
    case op::ctc_loss_gradient: {
      const bool gradient = n.what == op::ctc_loss_gradient;
      const ctc_inputs at(gradient);
      const ctc_workspace workspace(shape(at.logits), shape(at.labels), gradient);
      return static_cast<std::uint64_t>(workspace.count) * sizeof(double);
    }
    case op::top_k:
      return static_cast<std::uint64_t>(elements_of(g.tensors()[n.outputs[0]].shape)) * sizeof(std::int32_t);
    default:
      return 0;
  }
}

}  // namespace troupe::dnn

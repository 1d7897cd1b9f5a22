// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/try.hpp>
#include <troupe/dnn/cuda/kernels/kernel_sequence_arguments.hpp>
#include <troupe/dnn/cuda/launches/enqueue_functions.hpp>
#include <troupe/dnn/cuda/launches/launch_templates.hpp>
#include <troupe/dnn/operations/ctc/attributes.hpp>
#include <troupe/dnn/operations/recurrence/attributes.hpp>
#include <troupe/dnn/steps/step_workspace.hpp>

namespace troupe::dnn {
namespace {

using kernel_arguments::set_threads;

kernel_arguments::recurrence_shape arguments_of(const detail::recurrence_layout& l,
                                                const std::int32_t* lengths) noexcept {
  return {.cell = static_cast<std::int64_t>(l.cell),
          .time = l.time,
          .batch = l.batch,
          .inputs = l.inputs,
          .hidden = l.hidden,
          .width = l.width,
          .rows = l.rows,
          .before_reset = l.before_reset,
          .c_before = l.c_before,
          .unprojected = l.unprojected,
          .h_before = l.h_before,
          .line = l.line,
          .gate_gradients = l.gate_gradients(),
          .recurrent_gradients_offset = l.recurrent_gradients_offset(),
          .lengths = lengths};
}

// The addresses of a step's tensors and workspace on the GPU.
class gpu_addresses {
 public:
  gpu_addresses(const operator_step& s, const launch_context& on) noexcept : step_(s), site_(on) {}
  void* input(std::size_t k) const noexcept { return site_.at(step_.input(k)); }
  void* output(std::size_t k) const noexcept { return site_.at(step_.output(k)); }
  const std::int32_t* integers(std::size_t k) const noexcept { return static_cast<const std::int32_t*>(input(k)); }
  void* workspace(std::int64_t first) const noexcept { return advanced(site_.at(step_.workspace), first); }
  void* advanced(const void* from, std::int64_t elements) const noexcept {
    return const_cast<char*>(static_cast<const char*>(from)) +
           elements * static_cast<std::int64_t>(bytes_of(site_.plan.compute_type));
  }

 private:
  const operator_step& step_;
  const launch_context& site_;
};

// A matrix, with the strides of rows and columns.
struct matrix {
  const void* data;
  std::int64_t row, column = 1;
  matrix transposed() const noexcept { return {data, column, row}; }
};
result<void> enqueue_matrix_product(const launch_context& on, std::int64_t m, std::int64_t n, std::int64_t k,
                                    const matrix& a, const matrix& b, void* c, std::int64_t c_row, bool adds = false) {
  kernel_arguments::product_arguments r{.m = m,
                                        .n = n,
                                        .k = k,
                                        .a_row = a.row,
                                        .a_column = a.column,
                                        .b_row = b.row,
                                        .b_column = b.column,
                                        .c_row = c_row,
                                        .adds = adds,
                                        .batch = {},
                                        .a = a.data,
                                        .b = b.data,
                                        .c = c};
  r.batch.count = 1;
  return launch_product(on, r);
}

// Computes the gradients of x, weights and biases. Precondition: the gradients of all gates are computed.
result<void> enqueue_weight_gradients(const detail::recurrence_layout& l, const recurrence_gradient_places& at,
                                      const gpu_addresses& p, const kernel_arguments::recurrence_gradient_arguments& r,
                                      const launch_context& on) {
  const std::int64_t lines = l.lines(), width = l.gate_gradients();
  const matrix of_x{r.gate_gradients, width}, of_h{p.advanced(r.gate_gradients, l.recurrent_gradients_offset()), width};
  const matrix x{r.of.lengths != nullptr ? r.used_x : r.x, l.inputs}, h{p.advanced(r.reserve, l.h_before), l.line};
  TROUPE_TRY(
      enqueue_matrix_product(on, lines, l.inputs, l.rows, of_x, {p.input(at.w), l.inputs}, p.output(at.dx), l.inputs));
  TROUPE_TRY(enqueue_matrix_product(on, l.rows, l.inputs, lines, of_x.transposed(), x, p.output(at.dw), l.inputs));
  TROUPE_TRY(enqueue_matrix_product(on, l.rows, l.width, lines, of_h.transposed(), h, p.output(at.dr), l.width));
  if (at.dprojection != absent)
    TROUPE_TRY(enqueue_matrix_product(on, l.width, l.hidden, lines, matrix{r.projected, l.width}.transposed(),
                                      {p.advanced(r.reserve, l.unprojected), l.line}, p.output(at.dprojection),
                                      l.hidden));
  if (at.dinput_bias == absent) return {};
  for (const auto& [from, to] : {std::pair(of_x.data, at.dinput_bias), {of_h.data, at.drecurrent_bias}})
    TROUPE_TRY(launch_sums(on, {lines, l.rows, width, {{from, p.output(to)}}}));
  return {};
}

}  // namespace

result<void> enqueue_recurrence(const operator_step& s, const launch_context& on) {
  const auto a = s.attributes.as<recurrence_attributes>();
  const recurrence_places at(a);
  const detail::recurrence_layout l(a, s.inputs[at.x].shape, s.inputs[at.r].shape);
  const gpu_addresses p(s, on);
  kernel_arguments::recurrence_arguments r{.of = arguments_of(l, p.integers(at.lengths)),
                                           .step = 0,
                                           .h0 = p.input(at.h),
                                           .c0 = p.input(at.c),
                                           .input_bias = p.input(at.input_bias),
                                           .recurrent_bias = p.input(at.recurrent_bias),
                                           .y = p.output(at.y),
                                           .h = p.output(at.last_h),
                                           .c = p.output(at.last_c),
                                           .reserve = p.output(at.reserve)};
  TROUPE_TRY(launch_per_element<"recurrence_begin">(on, l.lines() * (l.rows + l.hidden), r));
  const matrix x{p.input(at.x), l.inputs}, weights{p.input(at.w), l.inputs};
  TROUPE_TRY(enqueue_matrix_product(on, l.lines(), l.rows, l.inputs, x, weights.transposed(), r.reserve, l.line, true));
  for (std::int64_t n = 0; n < l.time; ++n) {
    r.step = l.step(n);
    void* const lines = p.advanced(r.reserve, r.step * l.batch * l.line);
    const bool is_gru = l.cell == recurrent_cell::gru;
    const std::int64_t together = is_gru ? 2 * l.hidden : l.rows;
    const matrix h{r.h, l.width}, recurrent{p.input(at.r), l.width};
    TROUPE_TRY(enqueue_matrix_product(on, l.batch, together, l.width, h, recurrent.transposed(), lines, l.line, true));
    if (is_gru) {
      const matrix last{p.advanced(recurrent.data, together * l.width), l.width};
      TROUPE_TRY(enqueue_matrix_product(on, l.batch, l.hidden, l.width, h, last.transposed(),
                                        p.advanced(lines, l.before_reset), l.line, true));
    }
    TROUPE_TRY(launch_per_element<"recurrence_step">(on, l.batch * std::max(l.width, l.hidden), r));
    if (l.unprojected == 0) continue;
    TROUPE_TRY(enqueue_matrix_product(on, l.batch, l.width, l.hidden, {p.advanced(lines, l.unprojected), l.line},
                                      matrix{p.input(at.projection), l.hidden}.transposed(),
                                      p.advanced(r.y, r.step * l.batch * l.width), l.width));
    TROUPE_TRY(launch_per_element<"recurrence_keep">(on, l.batch * l.width, r));
  }
  return {};
}

result<void> enqueue_recurrence_gradient(const operator_step& s, const launch_context& on) {
  const auto a = s.attributes.as<recurrence_gradient_attributes>();
  const recurrence_gradient_places at(a);
  const detail::recurrence_layout l(a, s.inputs[at.x].shape, s.inputs[at.r].shape);
  const recurrence_workspace workspace(a, l);
  const gpu_addresses p(s, on);
  const bool projects = a.has_projection != 0;
  kernel_arguments::recurrence_gradient_arguments r{
      .of = arguments_of(l, p.integers(at.lengths)),
      .step = 0,
      .x = p.input(at.x),
      .dy = p.input(at.dy),
      .dlast_h = p.input(at.dlast_h),
      .dlast_c = p.input(at.dlast_c),
      .reserve = p.input(at.reserve),
      .gate_gradients = p.workspace(workspace.gate_gradients),
      .dh = at.dh != absent ? p.output(at.dh) : p.workspace(workspace.dh),
      .dc = at.dc != absent ? p.output(at.dc)
            : has_c(l.cell) ? p.workspace(workspace.dc)
                            : nullptr,
      .projected = projects ? p.workspace(workspace.projected) : nullptr,
      .of_units = projects ? p.workspace(workspace.projected + l.lines() * l.width) : nullptr,
      .used_x = p.workspace(workspace.x)};
  TROUPE_TRY(launch_per_element<"recurrence_gradient_begin">(
      on, std::max(l.batch * std::max(l.width, l.hidden), a.has_lengths != 0 ? l.lines() * l.inputs : 0), r));
  for (std::int64_t n = l.time; n-- > 0;) {
    r.step = l.step(n);
    if (projects) {
      TROUPE_TRY(launch_per_element<"recurrence_gradient_sum">(on, l.batch * l.width, r));
      TROUPE_TRY(enqueue_matrix_product(on, l.batch, l.hidden, l.width,
                                        {p.advanced(r.projected, r.step * l.batch * l.width), l.width},
                                        {p.input(at.projection), l.hidden}, r.of_units, l.hidden));
    }
    TROUPE_TRY(launch_per_element<"recurrence_gradient_step">(on, l.batch * l.hidden, r));
    const void* const gradients =
        p.advanced(r.gate_gradients, r.step * l.batch * l.gate_gradients() + l.recurrent_gradients_offset());
    TROUPE_TRY(enqueue_matrix_product(on, l.batch, l.width, l.rows, {gradients, l.gate_gradients()},
                                      {p.input(at.r), l.width}, r.dh, l.width, true));
  }
  return enqueue_weight_gradients(l, at, p, r, on);
}

result<void> enqueue_ctc(const operator_step& s, const launch_context& on) {
  const bool is_gradient = s.what == op::ctc_loss_gradient;
  const ctc_inputs at(is_gradient);
  const tensor_shape &logits = s.inputs[at.logits].shape, &labels = s.inputs[at.labels].shape;
  const ctc_workspace workspace(logits, labels, is_gradient);
  const gpu_addresses p(s, on);
  auto* const all = static_cast<double*>(p.workspace(0));
  const kernel_arguments::ctc_arguments r{.time = logits.extents[0],
                                          .batch = logits.extents[1],
                                          .classes = logits.extents[2],
                                          .longest = labels.extents[1],
                                          .blank = s.attributes.as<ctc_attributes>().blank,
                                          .states = workspace.states,
                                          .retained_steps = is_gradient ? logits.extents[0] : 2,
                                          .logits = p.input(at.logits),
                                          .dloss = is_gradient ? p.input(at.dloss) : nullptr,
                                          .labels = p.integers(at.labels),
                                          .steps = p.integers(at.steps),
                                          .counts = p.integers(at.counts),
                                          .norms = all + workspace.norms,
                                          .forward = all + workspace.forward,
                                          .backward = all + workspace.backward,
                                          .next = all + workspace.next,
                                          .losses = all + workspace.losses,
                                          .to = p.output(0)};
  TROUPE_TRY(launch<"ctc_norms">(on, r.time * r.batch, set_threads, r));
  TROUPE_TRY(launch<"ctc_forward">(on, r.batch, set_threads, r));
  if (!is_gradient) return {};
  TROUPE_TRY(launch<"ctc_backward">(on, r.batch, set_threads, r));
  return launch<"ctc_gradient">(on, r.time * r.batch, set_threads, r);
}

}  // namespace troupe::dnn

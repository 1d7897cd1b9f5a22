// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <troupe/dnn/operations/recurrence/attributes.hpp>
#include <troupe/dnn/operations/recurrence/layout.hpp>
#include <troupe/dnn/testing/reference/definitions.hpp>
#include <vector>

namespace troupe::dnn::detail {
namespace {

using numbers = std::vector<double>;

double sigmoid(double x) noexcept { return 1 / (1 + std::exp(-x)); }
// Return the derivative of a function, computed from the function's result y.
double d_sigmoid_from(double y) noexcept { return y * (1 - y); }
double d_tanh_from(double y) noexcept { return 1 - y * y; }

// Returns line `line` of a tensor: its elements along the last axis.
template <class Values>
auto* line_of(const Values& v, std::int64_t line) noexcept {
  return v.numbers.data() + line * v.shape.extents[v.shape.rank - 1];
}

std::int64_t steps_of(std::span<const input_values> in, std::size_t lengths, std::int64_t b, std::int64_t time) {
  if (lengths == absent) return time;
  return static_cast<std::int64_t>(std::clamp(in[lengths].numbers[static_cast<std::size_t>(b)], 0.0, double(time)));
}

// Returns the product of row `i` of a matrix and the vector x.
double row_product(const input_values& matrix, std::int64_t i, const double* x) noexcept {
  const double* const row = line_of(matrix, i);
  double sum = 0;
  for (std::int64_t k = 0; k < matrix.shape.extents[1]; ++k) sum += row[k] * x[k];
  return sum;
}
// Adds gradient * row `i` of a matrix to the vector `to`.
void add_row(const input_values& matrix, std::int64_t i, double gradient, double* to) noexcept {
  const double* const row = line_of(matrix, i);
  for (std::int64_t k = 0; k < matrix.shape.extents[1]; ++k) to[k] += gradient * row[k];
}
// Adds gradient * x to row `i` of dmatrix.
void add_to_row(const output_values& dmatrix, std::int64_t i, double gradient, const double* x) noexcept {
  double* const row = line_of(dmatrix, i);
  for (std::int64_t k = 0; k < dmatrix.shape.extents[1]; ++k) row[k] += gradient * x[k];
}

// One step of one sequence: `take` replaces h and c by those after the step, and writes the step's line `r` of the
// reserve.
class forward_step {
 public:
  forward_step(const recurrence_attributes& a, std::span<const input_values> inputs)
      : in(inputs), at(a), l(a, in[at.x].shape, in[at.r].shape) {}

  void take(const double* x, double* h, double* c, double* r) const {
    std::copy_n(h, l.width, r + l.h_before);
    for (std::int64_t i = 0; i < l.rows; ++i) {
      const auto k = static_cast<std::size_t>(i);
      const bool has_biases = at.input_bias != absent;
      const double of_x = row_product(in[at.w], i, x) + (has_biases ? in[at.input_bias].numbers[k] : 0),
                   of_h = row_product(in[at.r], i, h) + (has_biases ? in[at.recurrent_bias].numbers[k] : 0);
      r[i] = gate(i, of_x, of_h, r);
    }
    for (std::int64_t j = 0; j < l.hidden; ++j) {
      const auto g = [&](std::int64_t i) { return r[i * l.hidden + j]; };
      if (l.cell == recurrent_cell::lstm) {
        r[l.c_before + j] = c[j];
        c[j] = g(1) * c[j] + g(0) * g(2);
        const double m = g(3) * std::tanh(c[j]);
        (l.unprojected != 0 ? r + l.unprojected : h)[j] = m;
      } else {
        h[j] = l.cell == recurrent_cell::gru ? (1 - g(1)) * g(2) + g(1) * h[j] : g(0);
      }
    }
    if (l.unprojected != 0)
      for (std::int64_t i = 0; i < l.width; ++i) h[i] = row_product(in[at.projection], i, r + l.unprojected);
  }

  const std::span<const input_values> in;
  const recurrence_places at;
  const recurrence_layout l;

 private:
  double gate(std::int64_t i, double of_x, double of_h, double* r) const {
    const std::int64_t which = i / l.hidden, j = i % l.hidden;
    switch (l.cell) {
      case recurrent_cell::relu:
        return of_x + of_h > 0 || std::isnan(of_x + of_h) ? of_x + of_h : 0;
      case recurrent_cell::tanh:
        return std::tanh(of_x + of_h);
      case recurrent_cell::lstm:
        return which == 2 ? std::tanh(of_x + of_h) : sigmoid(of_x + of_h);
      default:
        if (which < 2) return sigmoid(of_x + of_h);
        r[l.before_reset + j] = of_h;
        return std::tanh(of_x + r[j] * of_h);
    }
  }
};

// The gradient of one step of one sequence. `take` replaces dh and dc, the gradients of the state after the step, by
// those of the state before it, and adds to the gradients of x, weights and biases.
class backward_step {
 public:
  backward_step(const recurrence_gradient_attributes& a, std::span<const input_values> inputs,
                std::span<const output_values> outputs)
      : in(inputs), out(outputs), at(a), l(a, in[at.x].shape, in[at.r].shape) {}

  void take(const double* x, const double* r, double* dh, double* dc, double* dx) const {
    const double* const h = r + l.h_before;
    numbers dm(dh, dh + l.width);
    if (l.unprojected != 0) {
      dm.assign(static_cast<std::size_t>(l.hidden), 0);
      for (std::int64_t i = 0; i < l.width; ++i) {
        add_row(in[at.projection], i, dh[i], dm.data());
        add_to_row(out[at.dprojection], i, dh[i], r + l.unprojected);
      }
    }
    numbers of_x(static_cast<std::size_t>(l.rows)), of_h;
    std::fill_n(dh, l.width, 0.0);
    for (std::int64_t j = 0; j < l.hidden; ++j) find_gates(r, j, dm[static_cast<std::size_t>(j)], dh, dc, of_x.data());
    of_h = of_x;
    for (std::int64_t j = 0; l.cell == recurrent_cell::gru && j < l.hidden; ++j)
      of_h[static_cast<std::size_t>(2 * l.hidden + j)] *= r[j];
    for (std::int64_t i = 0; i < l.rows; ++i) {
      const auto k = static_cast<std::size_t>(i);
      add_row(in[at.w], i, of_x[k], dx);
      add_row(in[at.r], i, of_h[k], dh);
      add_to_row(out[at.dw], i, of_x[k], x);
      add_to_row(out[at.dr], i, of_h[k], h);
      if (at.dinput_bias != absent) out[at.dinput_bias].numbers[k] += of_x[k];
      if (at.drecurrent_bias != absent) out[at.drecurrent_bias].numbers[k] += of_h[k];
    }
  }

  const std::span<const input_values> in;
  const std::span<const output_values> out;
  const recurrence_gradient_places at;
  const recurrence_layout l;

 private:
  // Computes the gradients of the sums of unit j's gates from dm, the gradient of the unit's result.
  void find_gates(const double* r, std::int64_t j, double dm, double* dh, double* dc, double* to) const {
    const auto g = [&](std::int64_t i) { return r[i * l.hidden + j]; };
    const auto d = [&](std::int64_t i) -> double& { return to[i * l.hidden + j]; };
    switch (l.cell) {
      case recurrent_cell::relu:
        d(0) = g(0) > 0 ? dm : 0;
        return;
      case recurrent_cell::tanh:
        d(0) = dm * d_tanh_from(g(0));
        return;
      case recurrent_cell::lstm: {
        const double before = r[l.c_before + j], c = std::tanh(g(1) * before + g(0) * g(2));
        const double dc_after = dc[j] + dm * g(3) * d_tanh_from(c);
        d(0) = dc_after * g(2) * d_sigmoid_from(g(0)), d(1) = dc_after * before * d_sigmoid_from(g(1));
        d(2) = dc_after * g(0) * d_tanh_from(g(2)), d(3) = dm * c * d_sigmoid_from(g(3));
        dc[j] = dc_after * g(1);
        return;
      }
      case recurrent_cell::gru:
        d(2) = dm * (1 - g(1)) * d_tanh_from(g(2));
        d(1) = dm * (r[l.h_before + j] - g(2)) * d_sigmoid_from(g(1));
        d(0) = d(2) * r[l.before_reset + j] * d_sigmoid_from(g(0));
        dh[j] = dm * g(1);
    }
  }
};

}  // namespace

void recur(const recurrence_attributes& a, inputs in, outputs out) {
  const forward_step step(a, in);
  const recurrence_layout& l = step.l;
  for (std::int64_t b = 0; b < l.batch; ++b) {
    numbers h(static_cast<std::size_t>(l.width)), c(static_cast<std::size_t>(l.hidden));
    if (step.at.h != absent) std::copy_n(line_of(in[step.at.h], b), l.width, h.data());
    if (step.at.c != absent) std::copy_n(line_of(in[step.at.c], b), l.hidden, c.data());
    const std::int64_t steps = steps_of(in, step.at.lengths, b, l.time);
    for (std::int64_t n = 0; n < steps; ++n) {
      const std::int64_t line = (l.reversed ? steps - 1 - n : n) * l.batch + b;
      step.take(line_of(in[step.at.x], line), h.data(), c.data(), line_of(out[step.at.reserve], line));
      std::copy_n(h.data(), l.width, line_of(out[step.at.y], line));
    }
    std::copy_n(h.data(), l.width, line_of(out[step.at.last_h], b));
    if (step.at.last_c != absent) std::copy_n(c.data(), l.hidden, line_of(out[step.at.last_c], b));
  }
}

void find_recurrence_gradient(const recurrence_gradient_attributes& a, inputs in, outputs out) {
  const backward_step step(a, in, out);
  const recurrence_layout& l = step.l;
  const auto& at = step.at;
  for (std::int64_t b = 0; b < l.batch; ++b) {
    numbers dh(static_cast<std::size_t>(l.width)), dc(static_cast<std::size_t>(l.hidden));
    if (at.dlast_h != absent) std::copy_n(line_of(in[at.dlast_h], b), l.width, dh.data());
    if (at.dlast_c != absent) std::copy_n(line_of(in[at.dlast_c], b), l.hidden, dc.data());
    const std::int64_t steps = steps_of(in, at.lengths, b, l.time);
    for (std::int64_t n = steps; n-- > 0;) {
      const std::int64_t line = (l.reversed ? steps - 1 - n : n) * l.batch + b;
      for (std::int64_t i = 0; at.dy != absent && i < l.width; ++i)
        dh[static_cast<std::size_t>(i)] += line_of(in[at.dy], line)[i];
      step.take(line_of(in[at.x], line), line_of(in[at.reserve], line), dh.data(), dc.data(),
                line_of(out[at.dx], line));
    }
    if (at.dh != absent) std::copy_n(dh.data(), l.width, line_of(out[at.dh], b));
    if (at.dc != absent) std::copy_n(dc.data(), l.hidden, line_of(out[at.dc], b));
  }
}

}  // namespace troupe::dnn::detail

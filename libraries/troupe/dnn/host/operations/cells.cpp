// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/processor/for_each_processor.hpp>
#include <troupe/dnn/host/operations/cells.hpp>
#include <troupe/epilogue/host/runs.hpp>

namespace troupe::dnn::host {
namespace {

using detail::recurrence_layout;

template <class N>
void apply(epilogue::op what, N* x, std::int64_t n) noexcept {
  epilogue::host::apply(what, x, x, x, x, n);
}

// Return the derivative of a function, computed from the function's result y.
template <class N>
TROUPE_INLINE N sigmoid_derivative(N y) noexcept {
  return y * (1 - y);
}
template <class N>
TROUPE_INLINE N tanh_derivative(N y) noexcept {
  return 1 - y * y;
}

// Loops over the units [0, n). They are compiled for several kinds of processor, which templates cannot be.
#define TROUPE_DNN_CELL_LOOPS(N)                                                                               \
  TROUPE_FOR_EACH_PROCESSOR                                                                                    \
  void add_products(N* to, const N* a, const N* b, std::int64_t n) noexcept {                                  \
    for (std::int64_t j = 0; j < n; ++j) to[j] += a[j] * b[j];                                                 \
  }                                                                                                            \
  TROUPE_FOR_EACH_PROCESSOR                                                                                    \
  void next_c(N* c, N* before, N* to, const N* gates, std::int64_t n) noexcept {                               \
    for (std::int64_t j = 0; j < n; ++j) {                                                                     \
      before[j] = c[j];                                                                                        \
      to[j] = c[j] = gates[n + j] * c[j] + gates[j] * gates[2 * n + j];                                        \
    }                                                                                                          \
  }                                                                                                            \
  TROUPE_FOR_EACH_PROCESSOR                                                                                    \
  void multiply_by(N* to, const N* by, std::int64_t n) noexcept {                                              \
    for (std::int64_t j = 0; j < n; ++j) to[j] *= by[j];                                                       \
  }                                                                                                            \
  TROUPE_FOR_EACH_PROCESSOR                                                                                    \
  void mix(N* to, const N* z, const N* candidate, const N* h, std::int64_t n) noexcept {                       \
    for (std::int64_t j = 0; j < n; ++j) to[j] = (1 - z[j]) * candidate[j] + z[j] * h[j];                      \
  }                                                                                                            \
  TROUPE_FOR_EACH_PROCESSOR                                                                                    \
  void lstm_gradients(const N* gates, const N* before, const N* tanh_c, const N* d, N* dc, N* to,              \
                      std::int64_t n) noexcept {                                                               \
    for (std::int64_t j = 0; j < n; ++j) {                                                                     \
      const N i = gates[j], f = gates[n + j], g = gates[2 * n + j], o = gates[3 * n + j], t = tanh_c[j];       \
      const N gradient = dc[j] + d[j] * o * tanh_derivative(t);                                                \
      to[j] = gradient * g * sigmoid_derivative(i), to[n + j] = gradient * before[j] * sigmoid_derivative(f);  \
      to[2 * n + j] = gradient * i * tanh_derivative(g), to[3 * n + j] = d[j] * t * sigmoid_derivative(o);     \
      dc[j] = gradient * f;                                                                                    \
    }                                                                                                          \
  }                                                                                                            \
  TROUPE_FOR_EACH_PROCESSOR                                                                                    \
  void gru_gradients(const N* gates, const N* before_reset, const N* h, N* dh, N* x_gradients, N* h_gradients, \
                     std::int64_t n) noexcept {                                                                \
    for (std::int64_t j = 0; j < n; ++j) {                                                                     \
      const N r = gates[j], z = gates[n + j], c = gates[2 * n + j], d = dh[j];                                 \
      const N candidate = d * (1 - z) * tanh_derivative(c);                                                    \
      x_gradients[j] = h_gradients[j] = candidate * before_reset[j] * sigmoid_derivative(r);                   \
      x_gradients[n + j] = h_gradients[n + j] = d * (h[j] - c) * sigmoid_derivative(z);                        \
      x_gradients[2 * n + j] = candidate, h_gradients[2 * n + j] = candidate * r;                              \
      dh[j] = d * z;                                                                                           \
    }                                                                                                          \
  }                                                                                                            \
  TROUPE_FOR_EACH_PROCESSOR                                                                                    \
  void simple_gradients(const N* y, const N* d, N* to, bool is_relu, std::int64_t n) noexcept {                \
    if (is_relu)                                                                                               \
      for (std::int64_t j = 0; j < n; ++j) to[j] = y[j] > 0 ? d[j] : 0;                                        \
    else                                                                                                       \
      for (std::int64_t j = 0; j < n; ++j) to[j] = d[j] * tanh_derivative(y[j]);                               \
  }
TROUPE_DNN_CELL_LOOPS(float)
TROUPE_DNN_CELL_LOOPS(double)
#undef TROUPE_DNN_CELL_LOOPS

template <class N>
void step(const recurrence_layout& l, N* line, N* c, N* to) noexcept {
  const std::int64_t n = l.hidden;
  using enum epilogue::op;
  switch (l.cell) {
    case recurrent_cell::relu:
    case recurrent_cell::tanh:
      apply(l.cell == recurrent_cell::relu ? relu : tanh, line, n);
      std::copy_n(line, n, to);
      return;
    case recurrent_cell::lstm:
      apply(sigmoid, line, 2 * n);
      apply(tanh, line + 2 * n, n);
      apply(sigmoid, line + 3 * n, n);
      next_c(c, line + l.c_before, to, line, n);
      apply(tanh, to, n);
      multiply_by(to, line + 3 * n, n);
      return;
    case recurrent_cell::gru:
      apply(sigmoid, line, 2 * n);
      add_products(line + 2 * n, line, line + l.before_reset, n);
      apply(tanh, line + 2 * n, n);
      mix(to, line + n, line + 2 * n, line + l.h_before, n);
  }
}

template <class N>
void step_gradient(const recurrence_layout& l, const N* line, const N* d, N* dh, N* dc, N* gate_gradients,
                   N* workspace) noexcept {
  const std::int64_t n = l.hidden;
  switch (l.cell) {
    case recurrent_cell::relu:
    case recurrent_cell::tanh:
      simple_gradients(line, d, gate_gradients, l.cell == recurrent_cell::relu, n);
      std::fill_n(dh, l.width, N(0));
      return;
    case recurrent_cell::lstm:
      std::fill_n(workspace, n, N(0));
      add_products(workspace, line + n, line + l.c_before, n);
      add_products(workspace, line, line + 2 * n, n);
      apply(epilogue::op::tanh, workspace, n);
      lstm_gradients(line, line + l.c_before, workspace, d, dc, gate_gradients, n);
      std::fill_n(dh, l.width, N(0));
      return;
    case recurrent_cell::gru:
      gru_gradients(line, line + l.before_reset, line + l.h_before, dh, gate_gradients,
                    gate_gradients + l.recurrent_gradients_offset(), n);
  }
}

}  // namespace

void step_cell(const recurrence_layout& l, float* line, float* c, float* to) noexcept { step(l, line, c, to); }
void step_cell(const recurrence_layout& l, double* line, double* c, double* to) noexcept { step(l, line, c, to); }

void step_cell_gradient(const recurrence_layout& l, const float* line, const float* d, float* dh, float* dc,
                        float* gate_gradients, float* workspace) noexcept {
  step_gradient(l, line, d, dh, dc, gate_gradients, workspace);
}
void step_cell_gradient(const recurrence_layout& l, const double* line, const double* d, double* dh, double* dc,
                        double* gate_gradients, double* workspace) noexcept {
  step_gradient(l, line, d, dh, dc, gate_gradients, workspace);
}

}  // namespace troupe::dnn::host

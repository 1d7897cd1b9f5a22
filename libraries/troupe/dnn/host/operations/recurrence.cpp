// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Recurrences and their gradients. Products that do not depend on the previous step are computed for all steps at once.
#include <algorithm>
#include <troupe/dnn/host/operations/cells.hpp>
#include <troupe/dnn/host/operations/compute_functions.hpp>
#include <troupe/dnn/host/small_products.hpp>
#include <troupe/dnn/operations/recurrence/attributes.hpp>
#include <troupe/dnn/steps/step_workspace.hpp>
#include <vector>

namespace troupe::dnn::host {
namespace {

constexpr std::int64_t part_size = 1 << 13;  // elements for which a thread of its own is worthwhile

// The layout and the sequences of a recurrence, for its computation and its gradient.
template <class N>
struct recurrence {
  recurrence(const execution_context& on, const operator_step& s, const recurrence_attributes& a, std::size_t lengths)
      : work(on), l(a, s.inputs[0].shape, s.inputs[2].shape), lengths_(on.elements<std::int32_t>(s.input(lengths))) {}

  std::int64_t length(std::int64_t b) const noexcept {
    return lengths_ == nullptr ? l.time : std::clamp<std::int64_t>(lengths_[b], 0, l.time);
  }
  // Calls `f(b, line, has_step)` on several threads, for each sequence b: with the index of its line of step t, and
  // true if the sequence has this step. `elements` is the number of elements that a call processes.
  template <class F>
  void for_each_sequence(std::int64_t t, std::int64_t elements, F&& f) const {
    work.team.spread(l.batch, std::max<std::int64_t>(1, part_size / elements),
                     [&](std::int64_t b) { f(b, t * l.batch + b, t < length(b)); });
  }
  template <class F>
  void for_each_line(std::int64_t elements, F&& f) const {
    work.team.spread(l.lines(), std::max<std::int64_t>(1, part_size / elements), f);
  }
  // Calls `f(first row, rows, offset)` for ranges of rows of the recurrent weights whose sums are contiguous in a line
  // of the reserve: element i + offset of the line is the sum of row i.
  template <class F>
  void for_each_part_of_sums(F&& f) const {
    if (l.cell != recurrent_cell::gru) return f(std::int64_t{0}, l.rows, std::int64_t{0});
    f(std::int64_t{0}, 2 * l.hidden, std::int64_t{0});
    f(2 * l.hidden, l.hidden, l.before_reset - 2 * l.hidden);
  }

  const execution_context& work;
  const detail::recurrence_layout l;

 private:
  const std::int32_t* const lengths_;
};

template <class N>
class recurrence_computation : recurrence<N> {
  using base = recurrence<N>;
  using base::l;

 public:
  recurrence_computation(const execution_context& on, const operator_step& s, const recurrence_attributes& a,
                         const recurrence_places& p)
      : base(on, s, a, p.lengths),
        x_(input(s, p.x)),
        weights_(input(s, p.w)),
        recurrent_(input(s, p.r)),
        h0_(input(s, p.h)),
        c0_(input(s, p.c)),
        biases_{input(s, p.input_bias), input(s, p.recurrent_bias)},
        projection_(input(s, p.projection)),
        y_(output(s, p.y)),
        h_(output(s, p.last_h)),
        c_(output(s, p.last_c)),
        reserve_(output(s, p.reserve)) {}

  void run() const {
    begin(h0_, h_, l.batch * l.width);
    if (c_ != nullptr) begin(c0_, c_, l.batch * l.hidden);
    this->for_each_line(l.line, [&](std::int64_t i) { set_biases(reserve_ + i * l.line); });
    for_each_run_of_lines(l.lines(), [&](std::int64_t first, std::int64_t count) {
      multiply_rows<N>(count, l.rows, l.inputs, {x_ + first * l.inputs, l.inputs}, {weights_, l.inputs, true}, 1,
                       reserve_ + first * l.line, l.line);
    });
    for (std::int64_t n = 0; n < l.time; ++n) take_step(l.step(n));
  }

 private:
  const N* input(const operator_step& s, std::size_t k) const { return this->work.template elements<N>(s.input(k)); }
  N* output(const operator_step& s, std::size_t k) const { return this->work.template elements<N>(s.output(k)); }

  static void begin(const N* from, N* state, std::int64_t count) {
    if (from != nullptr)
      std::copy_n(from, count, state);
    else
      std::fill_n(state, count, N(0));
  }
  void set_biases(N* line) const {
    const auto [b, d] = biases_;
    if (b == nullptr) return std::fill_n(line, l.rows + (l.before_reset != 0 ? l.hidden : 0), N(0)), void();
    std::copy_n(b, l.rows, line);
    this->for_each_part_of_sums([&, d = d](std::int64_t first, std::int64_t rows, std::int64_t offset) {
      N* const to = line + first + offset;
      for (std::int64_t i = 0; i < rows; ++i) to[i] = offset != 0 ? d[first + i] : to[i] + d[first + i];
    });
  }
  void take_step(std::int64_t t) const {
    N* const lines = reserve_ + t * l.batch * l.line;
    this->for_each_part_of_sums([&](std::int64_t first, std::int64_t rows, std::int64_t offset) {
      add_product<N>(this->work, l.batch, rows, l.width, {h_, l.width}, {recurrent_ + first * l.width, l.width, true},
                     lines + first + offset, l.line);
    });
    this->for_each_sequence(t, l.line, [&](std::int64_t b, std::int64_t i, bool has_step) {
      N *const line = reserve_ + i * l.line, *const h = h_ + b * l.width;
      if (!has_step) return std::fill_n(line, l.line, N(0)), void();
      std::copy_n(h, l.width, line + l.h_before);
      step_cell(l, line, c_ != nullptr ? c_ + b * l.hidden : nullptr,
                projection_ != nullptr ? line + l.unprojected : h);
    });
    if (projection_ != nullptr)
      multiply_rows<N>(l.batch, l.width, l.hidden, {lines + l.unprojected, l.line}, {projection_, l.hidden, true}, 0,
                       y_ + t * l.batch * l.width, l.width);
    this->for_each_sequence(t, l.width, [&](std::int64_t b, std::int64_t i, bool has_step) {
      N *const h = h_ + b * l.width, *const y = y_ + i * l.width;
      if (!has_step)
        std::fill_n(y, l.width, N(0));
      else if (projection_ != nullptr)
        std::copy_n(y, l.width, h);
      else
        std::copy_n(h, l.width, y);
    });
  }

  const N *const x_, *const weights_, *const recurrent_, *const h0_, *const c0_;
  const std::pair<const N*, const N*> biases_;
  const N* const projection_;
  N *const y_, *const h_, *const c_, *const reserve_;
};

template <class N>
class recurrence_gradient_computation : recurrence<N> {
  using base = recurrence<N>;
  using base::l;

 public:
  recurrence_gradient_computation(const execution_context& on, const operator_step& s,
                                  const recurrence_gradient_attributes& a, const recurrence_gradient_places& p)
      : base(on, s, a, p.lengths), step_(s), at_(p), has_lengths_(a.has_lengths != 0) {
    const recurrence_workspace workspace(a, l);
    N* const all = on.elements<N>(s.workspace);
    dh_ = at_.dh != absent ? output(at_.dh) : all + workspace.dh,
    dc_ = at_.dc != absent ? output(at_.dc) : all + workspace.dc;
    gate_gradients_ = all, projected_ = all + workspace.projected, masked_x_ = all + workspace.x;
  }

  void run() const {
    begin(at_.dlast_h, dh_, l.batch * l.width);
    if (has_c(l.cell)) begin(at_.dlast_c, dc_, l.batch * l.hidden);
    for (std::int64_t n = l.time; n-- > 0;) take_step(l.step(n));
    find_weight_gradients();
  }

 private:
  const N* input(std::size_t k) const { return this->work.template elements<N>(step_.input(k)); }
  N* output(std::size_t k) const { return this->work.template elements<N>(step_.output(k)); }

  void begin(std::size_t given, N* gradient, std::int64_t count) const {
    if (given != absent)
      std::copy_n(input(given), count, gradient);
    else
      std::fill_n(gradient, count, N(0));
  }

  void take_step(std::int64_t t) const {
    const N *const dy = input(at_.dy), *const projection = input(at_.projection), *const reserve = input(at_.reserve);
    N* const unit_gradients = projected_ + l.lines() * l.width;  // gradients of this step's unprojected state
    this->for_each_sequence(t, l.width, [&](std::int64_t b, std::int64_t i, bool has_step) {
      N* const dh = dh_ + b * l.width;
      if (has_step && dy != nullptr)
        for (std::int64_t j = 0; j < l.width; ++j) dh[j] += dy[i * l.width + j];
      if (projection == nullptr) return;
      if (has_step)
        std::copy_n(dh, l.width, projected_ + i * l.width);
      else
        std::fill_n(projected_ + i * l.width, l.width, N(0));
    });
    if (projection != nullptr)
      multiply_rows<N>(l.batch, l.hidden, l.width, {projected_ + t * l.batch * l.width, l.width},
                       {projection, l.hidden}, 0, unit_gradients, l.hidden);
    this->for_each_sequence(t, l.line, [&](std::int64_t b, std::int64_t i, bool has_step) {
      thread_local std::vector<N> workspace;
      N *const gradients = gate_gradients_ + i * l.gate_gradients(), *const dh = dh_ + b * l.width;
      if (!has_step) return std::fill_n(gradients, l.gate_gradients(), N(0)), void();
      workspace.resize(static_cast<std::size_t>(l.hidden));
      step_cell_gradient(l, reserve + i * l.line, projection != nullptr ? unit_gradients + b * l.hidden : dh, dh,
                         dc_ + b * l.hidden, gradients, workspace.data());
    });
    add_product<N>(
        this->work, l.batch, l.width, l.rows,
        {gate_gradients_ + t * l.batch * l.gate_gradients() + l.recurrent_gradients_offset(), l.gate_gradients()},
        {input(at_.r), l.width}, dh_, l.width);
  }

  // Returns x with 0 at steps that sequences do not have. There x may be NaN or infinite, and 0 times these is not 0.
  const N* masked_x() const {
    const N* const x = input(at_.x);
    if (!has_lengths_) return x;
    this->for_each_line(l.inputs, [&](std::int64_t i) {
      if (i / l.batch < this->length(i % l.batch))
        std::copy_n(x + i * l.inputs, l.inputs, masked_x_ + i * l.inputs);
      else
        std::fill_n(masked_x_ + i * l.inputs, l.inputs, N(0));
    });
    return masked_x_;
  }

  void find_weight_gradients() const {
    const N *const x = masked_x(), *const reserve = input(at_.reserve),
                   *const h_gradients = gate_gradients_ + l.recurrent_gradients_offset();
    for_each_run_of_lines(l.lines(), [&](std::int64_t first, std::int64_t count) {
      const N so_far = first == 0 ? 0 : 1;
      const std::int64_t width = l.gate_gradients();
      const N* const h = reserve + first * l.line + l.h_before;
      multiply_rows<N>(count, l.inputs, l.rows, {gate_gradients_ + first * width, width}, {input(at_.w), l.inputs}, 0,
                       output(at_.dx) + first * l.inputs, l.inputs);
      multiply_rows<N>(l.rows, l.inputs, count, {gate_gradients_ + first * width, width, true},
                       {x + first * l.inputs, l.inputs}, so_far, output(at_.dw), l.inputs);
      multiply_rows<N>(l.rows, l.width, count, {h_gradients + first * width, width, true}, {h, l.line}, so_far,
                       output(at_.dr), l.width);
      if (at_.dprojection != absent)
        multiply_rows<N>(l.width, l.hidden, count, {projected_ + first * l.width, l.width, true},
                         {reserve + first * l.line + l.unprojected, l.line}, so_far, output(at_.dprojection), l.hidden);
    });
    if (at_.dinput_bias == absent) return;
    sum_over_steps(gate_gradients_, output(at_.dinput_bias));
    if (h_gradients != gate_gradients_)
      sum_over_steps(h_gradients, output(at_.drecurrent_bias));
    else
      std::copy_n(output(at_.dinput_bias), l.rows, output(at_.drecurrent_bias));
  }
  // Sums the gradients of the gates over all steps of all sequences.
  void sum_over_steps(const N* gradients, N* to) const {
    constexpr std::int64_t columns = 64;
    this->work.team.spread((l.rows + columns - 1) / columns, std::max<std::int64_t>(1, part_size / columns / l.lines()),
                           [&](std::int64_t part) {
                             const std::int64_t first = part * columns, count = std::min(columns, l.rows - first);
                             double sums[columns] = {};
                             for (std::int64_t i = 0; i < l.lines(); ++i)
                               for (std::int64_t j = 0; j < count; ++j)
                                 sums[j] += static_cast<double>(gradients[i * l.gate_gradients() + first + j]);
                             for (std::int64_t j = 0; j < count; ++j) to[first + j] = static_cast<N>(sums[j]);
                           });
  }

  const operator_step& step_;
  const recurrence_gradient_places at_;
  const bool has_lengths_;
  N *gate_gradients_, *dh_, *dc_, *projected_, *masked_x_;
};

}  // namespace

template <class N>
void recur(const execution_context& on, const operator_step& s) {
  const auto a = s.attributes.as<recurrence_attributes>();
  recurrence_computation<N>(on, s, a, recurrence_places(a)).run();
}

template <class N>
void recurrence_gradient(const execution_context& on, const operator_step& s) {
  const auto a = s.attributes.as<recurrence_gradient_attributes>();
  recurrence_gradient_computation<N>(on, s, a, recurrence_gradient_places(a)).run();
}

TROUPE_HOST_STEP(recur);
TROUPE_HOST_STEP(recurrence_gradient);

}  // namespace troupe::dnn::host

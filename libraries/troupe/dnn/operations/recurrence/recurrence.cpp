// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/gradients/node_differentiation.hpp>
#include <troupe/dnn/graph/node_maker.hpp>
#include <troupe/dnn/operations/operation_table.hpp>
#include <troupe/dnn/operations/recurrence/attributes.hpp>
#include <troupe/dnn/operations/recurrence/layout.hpp>
#include <troupe/dnn/operations/recurrence/recurrence.hpp>

namespace troupe::dnn {
namespace {

using detail::node_maker;
using extents = std::initializer_list<std::int64_t>;

std::string_view name_of(recurrent_cell c) noexcept {
  return c == recurrent_cell::lstm ? "LSTM" : c == recurrent_cell::gru ? "GRU" : "simple cell";
}

void expect_extents(node_maker& m, std::string_view name, const value& v, extents expected, std::string_view meaning) {
  if (m.fine() && !std::equal(v.extents().begin(), v.extents().end(), expected.begin(), expected.end()))
    m.refuse_extents(name, v, cat(node_maker::text_of(std::span(expected.begin(), expected.size())), ": ", meaning));
}

dtype type_of(std::span<const value> all) noexcept {
  for (const value& v : all)
    if (v.type() == dtype::f64 && v.rank() != 0) return dtype::f64;
  return dtype::f32;
}

recurrence_attributes attributes_of(const recurrent_weights& w, const recurrence_options& o) noexcept {
  return {.cell = o.cell,
          .reversed = o.reversed,
          .has_state = o.initial.has_value(),
          .has_biases = w.biases.has_value(),
          .has_projection = w.projection.has_value(),
          .has_lengths = o.lengths.has_value()};
}

void check_cell(node_maker& m, const recurrence_attributes& a) {
  m.require_known("cell", a.cell);
  if (a.has_projection != 0 && !has_c(a.cell))
    m.refuse("projection", cat("is given to a ", name_of(a.cell)), "an LSTM, or no projection");
}

// Checks that the weights fit the cell, x and each other. Returns true if they do.
bool check_weights(node_maker& m, const value& x, const recurrent_weights& w, const recurrence_attributes& a) {
  check_cell(m, a);
  if (!m.has_rank("x", x, 3, 3) || !m.has_rank("input weights", w.input, 2, 2) ||
      !m.has_rank("recurrent weights", w.recurrent, 2, 2))
    return false;
  const std::int64_t rows = w.recurrent.extents()[0], gates = detail::gates_of(a.cell);
  if (x.extents()[2] < 1)
    m.refuse_extents("x", x,
                     "at least 1 along axis 2, the inputs; only axes 0 and 1, the steps and the sequences, may be 0");
  if (rows < 1 || w.recurrent.extents()[1] < 1)
    m.refuse_extents("recurrent weights", w.recurrent, "extents of at least 1");
  if (rows % gates != 0)
    m.refuse_extents("recurrent weights", w.recurrent,
                     cat("a number of rows that is a multiple of ", gates, ", the gates of a ", name_of(a.cell)));
  if (w.projection && m.has_rank("projection", *w.projection, 2, 2)) {
    expect_extents(m, "projection", *w.projection, {w.recurrent.extents()[1], rows / gates},
                   "the columns of the recurrent weights, and their rows for each gate");
  } else if (m.fine()) {
    expect_extents(m, "recurrent weights", w.recurrent, {rows, rows / gates},
                   "without a projection, as many columns as rows for each gate");
  }
  expect_extents(m, "input weights", w.input, {rows, x.extents()[2]},
                 "the rows of the recurrent weights, and the inputs of x");
  if (w.biases) {
    expect_extents(m, "input bias", w.biases->input, {rows}, "the rows of the weights");
    expect_extents(m, "recurrent bias", w.biases->recurrent, {rows}, "the rows of the weights");
  }
  return m.fine();
}

void check_state(node_maker& m, std::string_view name, const std::optional<value>& h, const std::optional<value>& c,
                 const detail::recurrence_layout& l) {
  if (h)
    expect_extents(m, cat(name, "h"), *h, {l.batch, l.width},
                   "the sequences of x, and the columns of the recurrent weights");
  if (c && !has_c(l.cell)) m.refuse(cat(name, "c"), cat("is given to a ", name_of(l.cell)), "an LSTM, or no c");
  if (c)
    expect_extents(m, cat(name, "c"), *c, {l.batch, l.hidden},
                   "the sequences of x, and the rows of the recurrent weights for each gate");
}

void check_lengths(node_maker& m, const std::optional<value>& lengths, const detail::recurrence_layout& l) {
  if (!m.fine() || !lengths) return;
  m.is_i32_in_memory("lengths", *lengths);
  expect_extents(m, "lengths", *lengths, {l.batch}, "the sequences of x");
  if (l.time > detail::most_counted)
    m.refuse("x", cat("has ", l.time, " steps"), cat("at most ", detail::most_counted, ", if there are lengths"));
}

void check_initial(node_maker& m, const recurrence_options& o, const detail::recurrence_layout& l) {
  if (!m.fine() || !o.initial) return;
  check_state(m, "initial ", o.initial->h, o.initial->c, l);
  if (has_c(l.cell) && !o.initial->c) m.refuse("initial c", "is not given", "a tensor, as initial h is given");
}

tensor_shape shape_of(const value& v) noexcept {
  tensor_shape s{.rank = v.rank()};
  std::copy(v.extents().begin(), v.extents().end(), s.extents.begin());
  return s;
}
detail::recurrence_layout layout_of(const recurrence_attributes& a, const value& x,
                                    const recurrent_weights& w) noexcept {
  return {a, shape_of(x), shape_of(w.recurrent)};
}

}  // namespace

recurrent_result recurrence(const value& x, const recurrent_weights& w, const recurrence_options& o) {
  constexpr std::string_view name = "recurrence";
  std::vector<value> inputs{x, w.input, w.recurrent};
  if (o.initial) inputs.push_back(o.initial->h);
  if (o.initial && o.initial->c) inputs.push_back(*o.initial->c);
  if (w.biases) inputs.push_back(w.biases->input), inputs.push_back(w.biases->recurrent);
  if (w.projection) inputs.push_back(*w.projection);
  if (o.lengths) inputs.push_back(*o.lengths);
  const recurrence_attributes a = attributes_of(w, o);
  node_maker m(op::recurrence, name, inputs);
  if (m.fine() && check_weights(m, x, w, a)) {
    const detail::recurrence_layout l = layout_of(a, x, w);
    check_initial(m, o, l);
    check_lengths(m, o.lengths, l);
    m.with(a);
    const dtype type = type_of(inputs);
    m.add_output(type, extents{l.time, l.batch, l.width});
    m.add_output(type, extents{l.batch, l.width});
    if (has_c(a.cell)) m.add_output(type, extents{l.batch, l.hidden});
    m.add_output(type, extents{l.time, l.batch, l.line});
  }
  const recurrence_places at(a);
  std::vector<value> all = m.all(4);
  return {all[at.y], all[at.last_h],
          at.last_c != absent ? all[at.last_c] : detail::not_computed(op::recurrence, name, "last c", "an LSTM"),
          all[at.reserve]};
}

recurrence_gradients recurrence_gradient(const recurrent_output_gradients& d, const value& x,
                                         const recurrent_weights& w, const value& reserve,
                                         const recurrence_options& o) {
  constexpr std::string_view name = "recurrence_gradient";
  std::vector<value> inputs{x, w.input, w.recurrent, reserve};
  for (const std::optional<value>* each : {&d.y, &d.h, &d.c, &w.projection, &o.lengths})
    if (*each) inputs.push_back(**each);
  recurrence_gradient_attributes a = attributes_of(w, o);
  a.has_dy = d.y.has_value(), a.has_dh = d.h.has_value(), a.has_dc = d.c.has_value();
  node_maker m(op::recurrence_gradient, name, inputs);
  if (!d.y && !d.h && !d.c) m.refuse("gradients", "are not given", "that of y or of a last state");
  if (m.fine() && check_weights(m, x, w, a)) {
    const detail::recurrence_layout l = layout_of(a, x, w);
    check_initial(m, o, l);
    check_lengths(m, o.lengths, l);
    expect_extents(m, "reserve", reserve, {l.time, l.batch, l.line}, "the extents that the layer returned");
    if (d.y) expect_extents(m, "dy", *d.y, {l.time, l.batch, l.width}, "the extents of y");
    check_state(m, "last d", d.h, d.c, l);
    m.with(a);
    const dtype type = type_of(inputs);
    m.add_output(type, x.extents());
    m.add_output(type, w.input.extents()), m.add_output(type, w.recurrent.extents());
    if (w.biases) m.add_output(type, extents{l.rows}), m.add_output(type, extents{l.rows});
    if (w.projection) m.add_output(type, w.projection->extents());
    if (o.initial) m.add_output(type, extents{l.batch, l.width});
    if (o.initial && has_c(a.cell)) m.add_output(type, extents{l.batch, l.hidden});
  }
  const std::vector<value> all = m.all(8);
  const recurrence_gradient_places at(a);
  const auto output = [&](std::size_t place, std::string_view which, std::string_view expected) {
    return place != absent ? all[place]
                           : detail::not_computed(op::recurrence_gradient, name, which, std::string(expected));
  };
  return {.dx = all[0],
          .dinput = all[1],
          .drecurrent = all[2],
          .dinput_bias = output(at.dinput_bias, "dinput_bias", "biases to be given"),
          .drecurrent_bias = output(at.drecurrent_bias, "drecurrent_bias", "biases to be given"),
          .dprojection = output(at.dprojection, "dprojection", "a projection to be given"),
          .dh = output(at.dh, "dh", "an initial state to be given"),
          .dc = output(at.dc, "dc", "an initial state of an LSTM to be given")};
}

}  // namespace troupe::dnn

namespace troupe::dnn::detail {

void differentiate_recurrence(node_differentiation& d) {
  const auto a = d.attributes<recurrence_attributes>();
  const recurrence_places at(a);
  if (d.gradient_of_output(at.reserve)) return d.refuse("the reserve of a recurrence");
  const auto input = [&](std::size_t place) { return place != absent ? std::optional(d.in(place)) : std::nullopt; };
  const auto gradient = [&](std::size_t place) {
    return place != absent && d.gradient_of_output(place) ? std::optional(d.dy(place)) : std::nullopt;
  };
  recurrent_weights w{.input = d.in(at.w), .recurrent = d.in(at.r), .projection = input(at.projection)};
  if (a.has_biases != 0) w.biases = {d.in(at.input_bias), d.in(at.recurrent_bias)};
  recurrence_options o{.cell = a.cell, .reversed = a.reversed != 0, .lengths = input(at.lengths)};
  if (a.has_state != 0) o.initial = {d.in(at.h), input(at.c)};
  const recurrence_gradients g = recurrence_gradient({gradient(at.y), gradient(at.last_h), gradient(at.last_c)},
                                                     d.in(at.x), w, d.out(at.reserve), o);
  const std::pair<std::size_t, const value*> all[] = {{at.x, &g.dx},
                                                      {at.w, &g.dinput},
                                                      {at.r, &g.drecurrent},
                                                      {at.input_bias, &g.dinput_bias},
                                                      {at.recurrent_bias, &g.drecurrent_bias},
                                                      {at.projection, &g.dprojection},
                                                      {at.h, &g.dh},
                                                      {at.c, &g.dc}};
  for (const auto& [place, result] : all)
    if (place != absent) d.set(place, [of = result] { return *of; });
}

// Without steps, the last state is the initial state.
known_output recurrence_of_nothing(const producer& p, std::size_t output) {
  const recurrence_places at(p.attributes.as<recurrence_attributes>());
  if (output == at.last_h) return input_or_zero(p, at.h);
  return output == at.last_c ? input_or_zero(p, at.c) : known_output{};
}

known_output recurrence_gradient_of_nothing(const producer& p, std::size_t output) {
  const recurrence_gradient_places at(p.attributes.as<recurrence_gradient_attributes>());
  if (output == at.dh) return input_or_zero(p, at.dlast_h);
  return output == at.dc ? input_or_zero(p, at.dlast_c) : known_output{};
}

}  // namespace troupe::dnn::detail

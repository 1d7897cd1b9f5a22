// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/testing/ready_image_cases.hpp>

namespace troupe::dnn::testing {

/// Two bidirectional layers of LSTMs with a projection, for 2 sequences of 3 steps with 3 inputs each.
struct shown_layers {
  static constexpr std::int64_t inputs = 3, hidden = 4, width = 2, rows = 4 * hidden;
  /// Elements of one step in the reserve: the gates, the previous c, the state before the projection, and the previous
  /// h.
  static constexpr std::int64_t line = rows + 2 * hidden + width;
  static constexpr std::int64_t reserve = 3 * 2 * (4 * line + 2 * width);

  static constexpr std::int64_t inputs_of(std::size_t i) { return i < 2 ? inputs : 2 * width; }
  /// Returns the weights of all layers, or their gradients.
  template <class Layer>
  static list<Layer> layers(const tensor_source& t) {
    list<Layer> out;
    for (std::size_t i = 0; i < 4; ++i)
      out.push_back({.input = t({rows, inputs_of(i)}),
                     .recurrent = t({rows, width}),
                     .input_bias = t({rows}),
                     .recurrent_bias = t({rows}),
                     .projection = t({width, hidden})});
    return out;
  }
  static std::vector<recurrent_weights> read(const list<rnn_weights>& all) {
    std::vector<recurrent_weights> out;
    for (const rnn_weights& w : all) {
      recurrent_weights r{value(w.input), value(w.recurrent)};
      if (w.input_bias) r.biases = {value(*w.input_bias), value(*w.recurrent_bias)};
      if (w.projection) r.projection = value(*w.projection);
      out.push_back(r);
    }
    return out;
  }
  /// Returns the memory of consecutive elements of `o`, from `first` on, as a tensor with the extents `e`.
  template <access_mode M>
  static tensor_in_memory part(const any_operand<M>& o, std::int64_t first, const std::vector<std::int64_t>& e) {
    memory_range range = o.range();
    range.address += static_cast<std::uint64_t>(first) * bytes_of(o.type());
    tensor_shape s{.rank = e.size()};
    std::copy(e.begin(), e.end(), s.extents.begin());
    s.strides = dense_strides(s);
    return {range, s, o.type()};
  }
  template <access_mode M>
  static tensor_in_memory state(const any_operand<M>& o, std::size_t i, std::int64_t width) {
    return part(o, static_cast<std::int64_t>(i) * 2 * width, {2, width});
  }
  /// Return the index of the first element of a layer's reserve, and of a layer's y, in the reserve of all layers.
  static constexpr std::int64_t of_layer(std::size_t i) {
    const auto n = static_cast<std::int64_t>(i);
    return 6 * (n * line + (i < 2 ? n : 2) * width);
  }
  static constexpr std::int64_t of_y(std::size_t i) { return of_layer(i) + 6 * line; }
};

/// Returns changes to layers of another cell, to one direction, to layers without biases, and of the fields that depend
/// on these.
template <class R>
std::vector<change<R>> changes_of_rnn(const tensor_source& t) {
  using l = shown_layers;
  const auto layers_of = [=](R& r, recurrent_cell cell) {
    const std::int64_t rows = l::width * (cell == recurrent_cell::lstm ? 4 : cell == recurrent_cell::gru ? 3 : 1);
    r.cell = cell;
    r.bidirectional = false;
    r.weights = {};
    for (const std::int64_t inputs : {l::inputs, l::width})
      r.weights.push_back({t({rows, inputs}), t({rows, l::width})});
    rnn_forward sized{.x = r.x, .y = t({3, 2, l::width}), .weights = r.weights, .cell = cell};
    r.reserve = t({sized.reserve_elements()});
    const bool has_c = cell == recurrent_cell::lstm;
    if constexpr (requires { r.dweights; }) {
      r.dy = t({3, 2, l::width});
      r.dweights = {};
      for (const std::int64_t inputs : {l::inputs, l::width})
        r.dweights.push_back({t({rows, inputs}), t({rows, l::width})});
      r.dlast_h = t({2, 2, l::width}), r.dinitial_h = t({2, 2, l::width});
      r.dlast_c = {}, r.dinitial_c = {};
      if (has_c) r.dlast_c = t({2, 2, l::width});
    } else {
      r.y = t({3, 2, l::width});
      r.initial_h = t({2, 2, l::width}), r.last_h = t({2, 2, l::width});
      r.initial_c = {}, r.last_c = {};
      if (has_c) r.initial_c = t({2, 2, l::width}), r.last_c = t({2, 2, l::width});
    }
  };
  std::vector<change<R>> out{TROUPE_OTHER(x, {3, 2, l::inputs}),
                             TROUPE_OTHER(x, {3, 2, 4}),
                             TROUPE_OTHER(x, {3, 2}),
                             TROUPE_NONE(weights),
                             {"weights", [](R& r) { r.weights.pop_back(); }},
                             {"weights", [=](R& r) { r.weights[1].input = t({l::rows, l::inputs}); }},
                             {"weights", [=](R& r) { r.weights[2].input = t({l::rows, l::inputs}); }},
                             {"weights", [=](R& r) { r.weights[2].recurrent = t({l::rows, l::width}); }},
                             {"weights", [=](R& r) { r.weights[3].recurrent = t({l::rows, l::width + 1}); }},
                             {"weights", [=](R& r) { r.weights[3].input_bias = t({l::rows - 1}); }},
                             {"weights", [=](R& r) { r.weights[3].input_bias = {}; }},
                             {"weights", [=](R& r) { r.weights[3].recurrent_bias = {}; }},
                             {"weights", [=](R& r) { r.weights[0].projection = t({l::width, l::hidden}); }},
                             {"weights", [=](R& r) { r.weights[0].projection = {}; }},
                             TROUPE_SET(cell, recurrent_cell::gru),
                             TROUPE_SET(cell, recurrent_cell(9)),
                             TROUPE_SET(bidirectional, false),
                             TROUPE_NONE(lengths),
                             TROUPE_WHOLE(lengths, {2}, {3, 1}),
                             TROUPE_WHOLE(lengths, {3}, {3, 1, 2}),
                             TROUPE_OTHER(lengths, {2}),
                             TROUPE_OTHER(reserve, {l::reserve - 1}),
                             TROUPE_OTHER(reserve, {1, l::reserve})};
  for (const auto c : {recurrent_cell::relu, recurrent_cell::tanh, recurrent_cell::lstm, recurrent_cell::gru})
    out.push_back({"cell", [=](R& r) { layers_of(r, c); }});
  return out;
}

struct rnn_forward_case {
  using request = rnn_forward;
  using l = shown_layers;
  static request make(const tensor_source& t) {
    return {.x = t({3, 2, l::inputs}),
            .y = t({3, 2, 2 * l::width}),
            .weights = l::layers<rnn_weights>(t),
            .cell = recurrent_cell::lstm,
            .bidirectional = true,
            .lengths = t.whole({2}, {2, 3}),
            .initial_h = t({4, 2, l::width}),
            .initial_c = t({4, 2, l::hidden}),
            .last_h = t({4, 2, l::width}),
            .last_c = t({4, 2, l::hidden}),
            .reserve = t({l::reserve})};
  }
  static std::vector<written> meaning(const request& r) {
    std::vector<recurrent_state> initial;
    for (std::size_t i = 0; i < 4; ++i)
      initial.push_back(
          {value(in_any(l::state(*r.initial_h, i, l::width))), value(in_any(l::state(*r.initial_c, i, l::hidden)))});
    const rnn_result of =
        rnn(value(r.x), l::read(r.weights),
            {.cell = recurrent_cell::lstm, .bidirectional = true, .lengths = value(*r.lengths)}, initial);
    std::vector<written> out{{of.y, r.y}};
    for (std::size_t i = 0; i < 4; ++i) {
      out.push_back({of.layers[i].h, l::state(*r.last_h, i, l::width)});
      out.push_back({of.layers[i].c, l::state(*r.last_c, i, l::hidden)});
      out.push_back({of.layers[i].reserve, l::part(*r.reserve, l::of_layer(i), {3, 2, l::line})});
      if (i < 2) out.push_back({of.layers[i].y, l::part(*r.reserve, l::of_y(i), {3, 2, l::width})});
    }
    return out;
  }
  static std::vector<change<request>> changes(const tensor_source& t) {
    return joined<request>(changes_of_rnn<request>(t),
                           {TROUPE_OTHER(y, {3, 2, 2 * l::width}),
                            TROUPE_OTHER(y, {3, 2, l::width}),
                            {"weights", [](request& r) { r.weights[3].input_bias = r.weights[3].recurrent_bias = {}; }},
                            {"weights", [=](request& r) { r.weights[1].input_bias = t({l::rows}); }},
                            {"weights", [=](request& r) { r.weights[1].recurrent_bias = t({l::rows}); }},
                            TROUPE_NONE(initial_h),
                            TROUPE_OTHER(initial_h, {4, 2, l::width}),
                            TROUPE_OTHER(initial_h, {3, 2, l::width}),
                            TROUPE_NONE(initial_c),
                            TROUPE_OTHER(initial_c, {4, 2, l::hidden}),
                            TROUPE_OTHER(initial_c, {4, 2, l::width}),
                            {"initial_c", [](request& r) { r.initial_h = r.initial_c = {}; }},
                            TROUPE_NONE(last_h),
                            TROUPE_OTHER(last_h, {4, 2, l::hidden}),
                            TROUPE_OTHER(last_h, {8, l::width}),
                            TROUPE_NONE(last_c),
                            TROUPE_OTHER(last_c, {4, 2, l::hidden}),
                            TROUPE_OTHER(last_c, {4, 2, l::width}),
                            TROUPE_NONE(reserve)});
  }
};

struct rnn_backward_case {
  using request = rnn_backward;
  using l = shown_layers;
  static request make(const tensor_source& t) {
    return {.dy = t({3, 2, 2 * l::width}),
            .x = t({3, 2, l::inputs}),
            .reserve = t({l::reserve}),
            .dx = t({3, 2, l::inputs}),
            .weights = l::layers<rnn_weights>(t),
            .dweights = l::layers<rnn_weight_gradients>(t),
            .cell = recurrent_cell::lstm,
            .bidirectional = true,
            .lengths = t.whole({2}, {2, 3}),
            .dlast_h = t({4, 2, l::width}),
            .dlast_c = t({4, 2, l::hidden}),
            .dinitial_h = t({4, 2, l::width}),
            .dinitial_c = t({4, 2, l::hidden})};
  }
  static std::vector<written> meaning(const request& r) {
    std::vector<recurrent_state> initial;
    std::vector<recurrent_output_gradients> last;
    rnn_result of{value(r.x), {}};
    for (std::size_t i = 0; i < 4; ++i) {
      const auto value_of = [](const in_any& o) { return value(o); };
      initial.push_back(
          {value(in_any(l::state(*r.dlast_h, i, l::width))), value_of(l::state(*r.dlast_c, i, l::hidden))});
      last.push_back({.h = initial.back().h, .c = initial.back().c});
      const value own = value_of(l::part(r.reserve, l::of_layer(i), {3, 2, l::line})),
                  y = value_of(l::part(r.reserve, l::of_y(i % 2), {3, 2, l::width}));
      of.layers.push_back({y, own, own, own});
    }
    const rnn_gradients g = rnn_gradient(
        value(r.dy), value(r.x), l::read(r.weights), of,
        {.cell = recurrent_cell::lstm, .bidirectional = true, .lengths = value(*r.lengths)}, initial, last);
    std::vector<written> out{{g.dx, r.dx}};
    for (std::size_t i = 0; i < 4; ++i) {
      const rnn_weight_gradients& to = r.dweights[i];
      const recurrence_gradients& from = g.layers[i];
      out.push_back({from.dinput, to.input}), out.push_back({from.drecurrent, to.recurrent});
      out.push_back({from.dinput_bias, *to.input_bias}), out.push_back({from.drecurrent_bias, *to.recurrent_bias});
      out.push_back({from.dprojection, *to.projection});
      out.push_back({from.dh, l::state(*r.dinitial_h, i, l::width)});
      out.push_back({from.dc, l::state(*r.dinitial_c, i, l::hidden)});
    }
    return out;
  }
  static std::vector<change<request>> changes(const tensor_source& t) {
    return joined<request>(changes_of_rnn<request>(t),
                           {TROUPE_OTHER(dy, {3, 2, 2 * l::width}),
                            TROUPE_OTHER(dy, {3, 2, l::width}),
                            TROUPE_OTHER(reserve, {l::reserve}),
                            TROUPE_OTHER(dx, {3, 2, l::inputs}),
                            TROUPE_OTHER(dx, {3, 2, l::inputs + 1}),
                            TROUPE_NONE(dweights),
                            {"dweights", [](request& r) { r.dweights.pop_back(); }},
                            {"dweights", [=](request& r) { r.dweights[0].input = t({l::rows, l::inputs}); }},
                            {"dweights", [=](request& r) { r.dweights[2].input = t({l::rows, l::inputs}); }},
                            {"dweights", [=](request& r) { r.dweights[1].recurrent = t({l::rows, l::width}); }},
                            {"dweights", [=](request& r) { r.dweights[1].input_bias = {}; }},
                            {"dweights", [=](request& r) { r.dweights[1].recurrent_bias = t({l::rows + 1}); }},
                            {"dweights", [=](request& r) { r.dweights[1].projection = {}; }},
                            {"weights", [](request& r) { r.weights[1].input_bias = r.weights[1].recurrent_bias = {}; }},
                            TROUPE_NONE(dlast_h),
                            TROUPE_OTHER(dlast_h, {4, 2, l::width}),
                            TROUPE_OTHER(dlast_h, {4, 2, l::hidden}),
                            TROUPE_NONE(dlast_c),
                            TROUPE_OTHER(dlast_c, {4, 2, l::hidden}),
                            TROUPE_OTHER(dlast_c, {2, 2, l::hidden}),
                            {"dlast_h", [](request& r) { r.dlast_h = {}, r.dlast_c = {}; }},
                            TROUPE_NONE(dinitial_h),
                            TROUPE_OTHER(dinitial_h, {4, 2, l::width}),
                            TROUPE_OTHER(dinitial_h, {4, 4}),
                            TROUPE_NONE(dinitial_c),
                            TROUPE_OTHER(dinitial_c, {4, 2, l::width})});
  }
};

struct ctc_forward_case {
  using request = ctc_forward;
  static request make(const tensor_source& t) {
    return {.logits = t({5, 2, 4}),
            .labels = t.whole({2, 2}, {1, 2, 3, 3}),
            .steps = t.whole({2}, {5, 4}),
            .counts = t.whole({2}, {2, 1}),
            .losses = t({2}),
            .blank = 0,
            .dlosses = t({2}),
            .dlogits = t({5, 2, 4})};
  }
  static std::vector<written> meaning(const request& r) {
    const ctc_labels l{value(r.labels), value(r.steps), value(r.counts), 0};
    return {{ctc_loss(value(r.logits), l), r.losses},
            {ctc_loss_gradient(value(*r.dlosses), value(r.logits), l), *r.dlogits}};
  }
  static std::vector<change<request>> changes(const tensor_source& t) {
    return {TROUPE_OTHER(logits, {5, 2, 4}),
            TROUPE_OTHER(logits, {5, 8}),
            TROUPE_WHOLE(labels, {2, 2}, {1, 3, 3, 3}),
            TROUPE_WHOLE(labels, {1, 2}, {1, 3}),
            TROUPE_OTHER(labels, {2, 2}),
            TROUPE_WHOLE(steps, {2}, {5, 3}),
            TROUPE_WHOLE(steps, {1}, {5}),
            TROUPE_WHOLE(counts, {2}, {1, 1}),
            TROUPE_WHOLE(counts, {3}, {1, 1, 1}),
            TROUPE_OTHER(losses, {2}),
            TROUPE_OTHER(losses, {3}),
            TROUPE_SET(blank, 2),
            TROUPE_SET(blank, 4),
            TROUPE_NONE(dlosses),
            TROUPE_OTHER(dlosses, {2}),
            TROUPE_OTHER(dlosses, {3}),
            {"dlosses", [](request& r) { r.dlosses = {}, r.blank = 2; }},
            TROUPE_NONE(dlogits),
            TROUPE_OTHER(dlogits, {5, 2, 4}),
            TROUPE_OTHER(dlogits, {5, 2, 3}),
            {"dlogits", [](request& r) { r.dlosses = {}, r.dlogits = {}; }}};
  }
};

}  // namespace troupe::dnn::testing

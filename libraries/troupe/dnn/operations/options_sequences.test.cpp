// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests that each option of attention and of operations on sequences changes the results.
#include <limits>
#include <troupe/dnn/testing/option_cases.hpp>

namespace troupe::dnn::testing {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

// Returns attention and its gradient, with tensors that fit the options.
std::vector<operation> attentions(value_source& t, const attention_options& o) {
  const std::int64_t batch = o.queries.offsets || o.keys.offsets ? 1 : 2;
  const value q = t({batch, 4, 5, 4}), dy = t({batch, 4, 5, 3}), y = t({batch, 4, 5, 3}),
              sums = t({batch, 4, 5, 1}) + 1;
  const value k = o.pages ? t({5, 2, 2, 4}) : t({batch, 2, 6, 4}), v = o.pages ? t({5, 2, 2, 3}) : t({batch, 2, 6, 3});
  const attended a = attention(q, k, v, o);
  const attention_gradients g = attention_gradient(dy, {y, sums}, q, k, v, o);
  operation gradient{"its gradient", {g.dq, g.dk, g.dv}};
  if (o.bias) gradient.results.push_back(g.dbias);
  return {{"attention", {a.y, a.statistics}}, gradient};
}

struct attention_case {
  TROUPE_OPTIONS(attention_options, scale, soft_cap, bias, alibi, window, queries, keys, pages, dropout)
  static options make(value_source& t) {
    return {.scale = 0.4, .soft_cap = 2, .bias = t({2, 4, 5, 6}), .window = {.left = 3, .right = 1}};
  }
  static std::vector<operation> operations(value_source& t, const options& o) { return attentions(t, o); }
  static std::vector<change<options>> changes(value_source& t) {
    const value bias = t({2, 1, 1, 6}), narrow = t({2, 1, 1, 5}), five = t.whole({2}, {5, 4}),
                pages = t.whole({2, 3}, {4, 0, 2, 1, 3, 0});
    return {TROUPE_NONE(scale),
            TROUPE_SET(scale, 0.3),
            TROUPE_SET(scale, infinite),
            TROUPE_NONE(soft_cap),
            TROUPE_SET(soft_cap, 1),
            TROUPE_SET(soft_cap, -1),
            TROUPE_NONE(bias),
            TROUPE_SET(bias, bias),
            TROUPE_SET(bias, narrow),
            TROUPE_SET(alibi, true),
            TROUPE_NONE(window),
            TROUPE_SET(queries, {.lengths = five, .offsets = {}}),
            TROUPE_SET(keys, {.lengths = five, .offsets = {}}),
            TROUPE_SET(pages, pages),
            TROUPE_SET(dropout, attention_dropout{.probability = 0.5})};
  }
};
struct attention_window_case {
  TROUPE_OPTIONS(attention_window, left, right, bottom_right)
  static options make(value_source&) { return {.left = 1, .right = 1}; }
  static std::vector<operation> operations(value_source& t, const options& o) { return attentions(t, {.window = o}); }
  static std::vector<change<options>> changes(value_source&) {
    return {TROUPE_NONE(left),    TROUPE_SET(left, 0),   TROUPE_SET(left, -1),          TROUPE_NONE(right),
            TROUPE_SET(right, 0), TROUPE_SET(right, -1), TROUPE_SET(bottom_right, true)};
  }
};
// The options for the sequences of queries and of keys.
struct sequences_case {
  struct both_sides {
    attention_sequences queries, keys;
  };
  TROUPE_OPTIONS(both_sides, queries, keys)
  static options make(value_source& t) {
    return {{.lengths = t.whole({2}, {5, 4}), .offsets = {}}, {.lengths = t.whole({2}, {6, 5}), .offsets = {}}};
  }
  static std::vector<operation> operations(value_source& t, const options& o) {
    return attentions(t, {.queries = o.queries, .keys = o.keys});
  }
  static std::vector<change<options>> changes(value_source& t) {
    const value two = t.whole({2}, {5, 3}), three = t.whole({3}, {1, 2, 3}), numbers = t({2});
    std::vector<change<options>> out{TROUPE_NONE(queries), TROUPE_NONE(keys)};
    for (const value& lengths : {two, three, numbers}) {
      out.push_back(TROUPE_SET(queries.lengths, lengths)), out.back().field = "queries";
      out.push_back(TROUPE_SET(keys.lengths, lengths)), out.back().field = "keys";
    }
    out.push_back(TROUPE_SET(queries.offsets, three)), out.back().field = "queries";
    out.push_back(TROUPE_SET(keys.offsets, three)), out.back().field = "keys";
    return out;
  }
};
struct packed_sequences_case {
  TROUPE_OPTIONS(sequences_case::both_sides, queries, keys)
  static options make(value_source& t) {
    return {{.lengths = {}, .offsets = t.whole({3}, {0, 2, 5})}, {.lengths = {}, .offsets = t.whole({3}, {0, 3, 6})}};
  }
  static std::vector<operation> operations(value_source& t, const options& o) {
    return attentions(t, {.queries = o.queries, .keys = o.keys});
  }
  static std::vector<change<options>> changes(value_source& t) {
    const value four = t.whole({3}, {0, 4, 5}), one = t.whole({1}, {0});
    return {{"queries", [=](options& o) { o.queries.offsets = four; }},
            {"queries", [=](options& o) { o.queries.offsets = one; }},
            {"keys", [=](options& o) { o.keys.offsets = four; }},
            {"keys", [=](options& o) { o.keys.offsets = {}; }}};
  }
};
struct attention_dropout_case {
  TROUPE_OPTIONS(attention_dropout, probability, seed, offset, step)
  static options make(value_source& t) {
    return {.probability = 0.4, .seed = 5, .offset = 6, .step = t.whole({1}, {7})};
  }
  static std::vector<operation> operations(value_source& t, const options& o) { return attentions(t, {.dropout = o}); }
  static std::vector<change<options>> changes(value_source& t) {
    const value eight = t.whole({1}, {8}), two = t.whole({2}, {7, 8}), number = t({1});
    return {TROUPE_SET(probability, 0.6),
            TROUPE_SET(probability, 1),
            TROUPE_SET(probability, 0),
            TROUPE_SET(seed, 6),
            TROUPE_SET(seed, 5 + (std::uint64_t{1} << 32)),
            TROUPE_SET(offset, 7),
            TROUPE_SET(step, eight),
            TROUPE_NONE(step),
            TROUPE_SET(step, two),
            TROUPE_SET(step, number)};
  }
};

// Returns a recurrent layer of 3 units, and its gradient.
std::vector<operation> recurrences(value_source& t, const recurrence_options& o,
                                   const std::optional<recurrent_weights>& given = {},
                                   recurrent_output_gradients d = {}) {
  const value x = t({4, 2, 5}), dy = t({4, 2, 3});
  const std::int64_t rows = o.cell == recurrent_cell::lstm ? 12 : o.cell == recurrent_cell::gru ? 9 : 3;
  const recurrent_weights w = given ? *given : recurrent_weights{t({rows, 5}) * 0.3, t({rows, 3}) * 0.3};
  const recurrent_result r = recurrence(x, w, o);
  if (!d.y && !d.h && !d.c) d.y = dy;
  const recurrence_gradients g = recurrence_gradient(d, x, w, r.reserve, o);
  operation forward{"recurrence", {r.y, r.h, r.reserve}}, backward{"its gradient", {g.dx, g.dinput, g.drecurrent}};
  if (o.cell == recurrent_cell::lstm) forward.results.push_back(r.c);
  if (w.biases) backward.results.insert(backward.results.end(), {g.dinput_bias, g.drecurrent_bias});
  if (w.projection) backward.results.push_back(g.dprojection);
  if (o.initial) backward.results.push_back(g.dh);
  if (o.initial && o.cell == recurrent_cell::lstm) backward.results.push_back(g.dc);
  return {forward, backward};
}

struct recurrence_case {
  TROUPE_OPTIONS(recurrence_options, cell, reversed, initial, lengths)
  static options make(value_source& t) {
    return {.cell = recurrent_cell::tanh, .initial = recurrent_state{t({2, 3})}, .lengths = t.whole({2}, {4, 3})};
  }
  static std::vector<operation> operations(value_source& t, const options& o) { return recurrences(t, o); }
  static std::vector<change<options>> changes(value_source& t) {
    const value h = t({2, 3}), c = t({2, 3}), two = t.whole({2}, {4, 2}), three = t.whole({3}, {4, 2, 1}),
                wide = t({2, 4});
    return {TROUPE_SET(cell, recurrent_cell::relu),
            TROUPE_SET(cell, recurrent_cell::gru),
            TROUPE_SET(cell, recurrent_cell(9)),
            {"cell", [=](options& o) { o.cell = recurrent_cell::lstm, o.initial->c = c; }},
            TROUPE_SET(reversed, true),
            TROUPE_NONE(initial),
            TROUPE_SET(initial, recurrent_state{h}),
            TROUPE_SET(initial, recurrent_state{wide}),
            {"initial", [=](options& o) { o.initial->c = c; }},
            TROUPE_NONE(lengths),
            TROUPE_SET(lengths, two),
            TROUPE_SET(lengths, three)};
  }
};
struct recurrent_state_case {
  TROUPE_OPTIONS(recurrent_state, h, c)
  static options make(value_source& t) { return {t({2, 3}), t({2, 3})}; }
  static std::vector<operation> operations(value_source& t, const options& o) { return recurrences(t, {.initial = o}); }
  static std::vector<change<options>> changes(value_source& t) {
    const value other = t({2, 3}), wide = t({2, 4});
    return {TROUPE_SET(h, other), TROUPE_SET(h, wide), TROUPE_SET(c, other), TROUPE_SET(c, wide), TROUPE_NONE(c)};
  }
};
struct recurrent_weights_case {
  TROUPE_OPTIONS(recurrent_weights, input, recurrent, biases, projection)
  static options make(value_source& t) {
    return {t({16, 5}) * 0.3, t({16, 3}) * 0.3, recurrent_weights::bias{t({16}), t({16})}, t({3, 4})};
  }
  static std::vector<operation> operations(value_source& t, const options& o) { return recurrences(t, {}, o); }
  static std::vector<change<options>> changes(value_source& t) {
    const value input = t({16, 5}), recurrent = t({16, 3}), narrow = t({16, 4}), bias = t({16}), projection = t({3, 4}),
                short_bias = t({12}), wide = t({4, 4});
    return {TROUPE_SET(input, input),
            TROUPE_SET(input, narrow),
            TROUPE_SET(recurrent, recurrent),
            TROUPE_SET(recurrent, narrow),
            TROUPE_NONE(biases),
            {"biases", [=](options& o) { o.biases->input = short_bias; }},
            {"biases", [=](options& o) { o.biases->recurrent = short_bias; }},
            {"biases", [=](options& o) { o.biases->recurrent = bias; }},
            {"biases", [=](options& o) { o.biases->input = bias; }},
            TROUPE_NONE(projection),
            TROUPE_SET(projection, wide),
            TROUPE_SET(projection, projection)};
  }
};
struct output_gradients_case {
  TROUPE_OPTIONS(recurrent_output_gradients, y, h, c)
  static options make(value_source& t) { return {t({4, 2, 3}), t({2, 3}), t({2, 3})}; }
  static std::vector<operation> operations(value_source& t, const options& o) {
    return {recurrences(t, {.cell = recurrent_cell::lstm}, {}, o)[1]};
  }
  static std::vector<change<options>> changes(value_source& t) {
    const value y = t({4, 2, 3}), h = t({2, 3}), c = t({2, 3}), wide = t({2, 4});
    return {TROUPE_SET(y, y), TROUPE_SET(y, h), TROUPE_NONE(y),      TROUPE_SET(h, h), TROUPE_SET(h, wide),
            TROUPE_NONE(h),   TROUPE_SET(c, c), TROUPE_SET(c, wide), TROUPE_NONE(c)};
  }
};

struct layers_case {
  TROUPE_OPTIONS(rnn_options, cell, bidirectional, lengths)
  static options make(value_source& t) {
    return {.cell = recurrent_cell::tanh, .bidirectional = false, .lengths = t.whole({2}, {4, 3})};
  }
  // The weights fit one layer with two directions, and two layers with one.
  static std::vector<operation> operations(value_source& t, const options& o) {
    const value x = t({4, 2, 3});
    const std::int64_t rows = o.cell == recurrent_cell::lstm ? 12 : o.cell == recurrent_cell::gru ? 9 : 3;
    const std::vector<recurrent_weights> w(2, {t({rows, 3}) * 0.3, t({rows, 3}) * 0.3});
    const rnn_result r = rnn(x, w, o);
    const rnn_gradients g = rnn_gradient(t({4, 2, o.bidirectional ? 6 : 3}), x, w, r, o);
    return {{"rnn", {r.y, r.layers[0].h}}, {"its gradient", {g.dx, g.layers[0].dinput}}};
  }
  static std::vector<change<options>> changes(value_source& t) {
    const value two = t.whole({2}, {4, 2}), three = t.whole({3}, {4, 2, 1});
    return {TROUPE_SET(cell, recurrent_cell::relu),
            TROUPE_SET(cell, recurrent_cell::lstm),
            TROUPE_SET(cell, recurrent_cell::gru),
            TROUPE_SET(cell, recurrent_cell(9)),
            TROUPE_SET(bidirectional, true),
            TROUPE_NONE(lengths),
            TROUPE_SET(lengths, two),
            TROUPE_SET(lengths, three)};
  }
};

struct ctc_case {
  TROUPE_OPTIONS(ctc_labels, labels, steps, counts, blank)
  static options make(value_source& t) {
    return {t.whole({2, 2}, {1, 2, 3, 3}), t.whole({2}, {5, 4}), t.whole({2}, {2, 1}), 0};
  }
  static std::vector<operation> operations(value_source& t, const options& o) {
    const value logits = t({5, 2, 4}), dloss = t({2});
    return {{"ctc_loss", {ctc_loss(logits, o)}}, {"its gradient", {ctc_loss_gradient(dloss, logits, o)}}};
  }
  static std::vector<change<options>> changes(value_source& t) {
    const value labels = t.whole({2, 2}, {1, 3, 3, 3}), two = t.whole({2}, {4, 3}), ones = t.whole({2}, {1, 1}),
                three = t.whole({3}, {1, 1, 1}), numbers = t({2});
    return {TROUPE_SET(labels, labels), TROUPE_SET(labels, two),    TROUPE_SET(steps, two),
            TROUPE_SET(steps, three),   TROUPE_SET(steps, numbers), TROUPE_SET(counts, ones),
            TROUPE_SET(counts, three),  TROUPE_SET(blank, 2),       TROUPE_SET(blank, 4)};
  }
};

using cases = ::testing::Types<attention_case, attention_window_case, sequences_case, packed_sequences_case,
                               attention_dropout_case, recurrence_case, recurrent_state_case, recurrent_weights_case,
                               output_gradients_case, layers_case, ctc_case>;
INSTANTIATE_TYPED_TEST_SUITE_P(dnn_sequences, option_cases, cases);

}  // namespace
}  // namespace troupe::dnn::testing

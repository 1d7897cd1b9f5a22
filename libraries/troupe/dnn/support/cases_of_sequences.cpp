// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/dnn/support/cases.hpp>

namespace troupe::dnn::support {
namespace {

// An attention with 4 heads and some options.
struct attention_case {
  std::string variant;
  std::function<attention_options(tensors&)> options = [](tensors&) { return attention_options{}; };
  std::int64_t queries = 128, width = 64, batch = 2, key_heads = 4;
  bool has_pages = false;
};

std::vector<attention_case> attention_cases() {
  const auto window = [](const attention_window& w) {
    return [=](tensors&) { return attention_options{.window = w}; };
  };
  const auto lengths = [](tensors& t) { return attention_sequences{.lengths = t.of(dtype::i32, {2}), .offsets = {}}; };
  const auto offsets = [](tensors& t) { return attention_sequences{.lengths = {}, .offsets = t.of(dtype::i32, {3})}; };
  const auto pages = [](tensors& t) { return t.of(dtype::i32, {2, 2}); };
  return {
      {.variant = "all keys"},
      {.variant = "heads that share keys", .key_heads = 2},
      {.variant = "causal", .options = window(causal)},
      {.variant = "causal_bottom_right", .options = window(causal_bottom_right)},
      {.variant = "a window", .options = window({.left = 16, .right = 16})},
      {.variant = "soft_cap", .options = [](tensors&) { return attention_options{.soft_cap = 20.0}; }},
      {.variant = "bias", .options = [](tensors& t) { return attention_options{.bias = t.given({2, 4, 128, 128})}; }},
      {.variant = "alibi", .options = [](tensors&) { return attention_options{.alibi = true}; }},
      {.variant = "lengths", .options = [=](tensors& t) { return attention_options{.keys = lengths(t)}; }},
      {.variant = "offsets",
       .options = [=](tensors& t) { return attention_options{.queries = offsets(t), .keys = offsets(t)}; },
       .batch = 1},
      {.variant = "dropout",
       .options = [](tensors&) { return attention_options{.dropout = attention_dropout{.probability = 0.1}}; }},
      {.variant = "width 60", .width = 60},
      {.variant = "width 320", .width = 320},
      {.variant = "pages",
       .options = [=](tensors& t) { return attention_options{.pages = pages(t)}; },
       .has_pages = true},
      {.variant = "1 query", .queries = 1},
      {.variant = "1 query with lengths",
       .options = [=](tensors& t) { return attention_options{.keys = lengths(t)}; },
       .queries = 1},
      {.variant = "1 query with pages",
       .options = [=](tensors& t) { return attention_options{.keys = lengths(t), .pages = pages(t)}; },
       .queries = 1,
       .has_pages = true},
      {.variant = "1 query of width 60", .queries = 1, .width = 60}};
}

void add_attention(std::vector<support_case>& to) {
  for (const attention_case& f : attention_cases()) {
    const extents q{f.batch, 4, f.queries, f.width},
        k = f.has_pages ? extents{4, 4, 64, f.width} : extents{f.batch, f.key_heads, 128, f.width},
        rows{f.batch, 4, f.queries, 1};
    to.push_back({"attention", f.variant, op::attention, [=](tensors& t) {
                    const attended a = attention(t.given(q), t.given(k), t.given(k), f.options(t));
                    return results{{a.y}, {a.statistics}};
                  }});
    to.push_back({"attention_gradient", f.variant, op::attention_gradient, [=](tensors& t) {
                    const auto o = f.options(t);
                    const attended of{t.given(q), t.statistics(rows)};
                    const auto g = attention_gradient(t.given(q), of, t.given(q), t.given(k), t.given(k), o);
                    results out{{g.dq, g.dk, g.dv}};
                    if (o.bias) out.others.push_back(g.dbias);
                    return out;
                  }});
  }
}

void add_recurrence(std::vector<support_case>& to) {
  constexpr std::tuple<const char*, recurrent_cell, std::int64_t> cells[] = {{"relu", recurrent_cell::relu, 1},
                                                                             {"tanh", recurrent_cell::tanh, 1},
                                                                             {"lstm", recurrent_cell::lstm, 4},
                                                                             {"gru", recurrent_cell::gru, 3}};
  for (const auto& [name, cell, gates] : cells) {
    const extents x{8, 16, 64}, y = x, input{gates * 64, 64};
    const auto layer = [=, cell = cell](tensors& t) {
      return recurrence(t.given(x), {t.given(input), t.given(input)}, {.cell = cell});
    };
    to.push_back({"recurrence", name, op::recurrence, [=](tensors& t) {
                    const recurrent_result r = layer(t);
                    return results{{r.y}, {r.reserve}};
                  }});
    to.push_back({"recurrence_gradient", name, op::recurrence_gradient, [=, cell = cell](tensors& t) {
                    const value stored = layer(t).reserve;
                    const value reserve = t.statistics(extents(stored.extents().begin(), stored.extents().end()));
                    const auto g = recurrence_gradient({.y = t.given(y)}, t.given(x), {t.given(input), t.given(input)},
                                                       reserve, {.cell = cell});
                    return results{{g.dx}, {g.dinput, g.drecurrent}};
                  }});
  }
}

void add_ctc(std::vector<support_case>& to) {
  const extents logits{16, 2, 8};
  const auto labels = [](tensors& t) {
    return ctc_labels{t.of(dtype::i32, {2, 3}), t.of(dtype::i32, {2}), t.of(dtype::i32, {2})};
  };
  to.push_back(
      {"ctc_loss", "", op::ctc_loss, [=](tensors& t) { return results{{ctc_loss(t.given(logits), labels(t))}}; }});
  to.push_back({"ctc_loss_gradient", "", op::ctc_loss_gradient,
                [=](tensors& t) { return results{{ctc_loss_gradient(t.given({2}), t.given(logits), labels(t))}}; }});
}

}  // namespace

std::vector<support_case> cases_of_sequences() {
  std::vector<support_case> out;
  add_attention(out);
  add_recurrence(out);
  add_ctc(out);
  return out;
}

}  // namespace troupe::dnn::support

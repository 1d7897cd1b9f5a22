// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <troupe/dnn/testing/ready_image_cases.hpp>

namespace troupe::dnn::testing {

/// The window in the cases of the forward and the backward request.
inline constexpr attention_window shown_window{.left = 3, .right = 1, .bottom_right = true};
template <class R>
attention_options shown_options(const R& r) {
  return {.scale = 0.4,
          .soft_cap = 2,
          .bias = value(*r.bias),
          .alibi = true,
          .window = shown_window,
          .queries = {.lengths = value(*r.query_lengths), .offsets = {}},
          .keys = {.lengths = value(*r.key_lengths), .offsets = {}},
          .pages = {},
          .dropout = attention_dropout{.probability = 0.3, .seed = 5, .offset = 6, .step = value(*r.step)}};
}

/// Replaces the sequences of a request by sequences that are packed in one row of the batch.
template <class R>
void put_in_one_row(R& r, const tensor_source& t) {
  r.bias = {}, r.query_lengths = r.key_lengths = {};
  r.q = t({1, 4, 5, 4}), r.k = t({1, 2, 6, 4}), r.v = t({1, 2, 6, 3}), r.y = t({1, 4, 5, 3});
  r.statistics = t({1, 4, 5, 1});
  r.query_offsets = t.whole({3}, {0, 2, 5}), r.key_offsets = t.whole({3}, {0, 3, 6});
  if constexpr (requires { r.dq; })
    r.dy = t({1, 4, 5, 3}), r.dq = t({1, 4, 5, 4}), r.dk = t({1, 2, 6, 4}), r.dv = t({1, 2, 6, 3}), r.dbias = {};
}

template <class R>
std::vector<change<R>> changes_of_attention(const tensor_source& t) {
  return {TROUPE_OTHER(q, {2, 4, 5, 4}),
          TROUPE_OTHER(q, {4, 5, 4}),
          TROUPE_OTHER(k, {2, 2, 6, 4}),
          TROUPE_OTHER(k, {2, 3, 6, 4}),
          TROUPE_OTHER(v, {2, 2, 6, 3}),
          TROUPE_OTHER(v, {2, 2, 5, 3}),
          TROUPE_OTHER(y, {2, 4, 5, 3}),
          TROUPE_OTHER(y, {2, 4, 5, 4}),
          TROUPE_OTHER(statistics, {2, 4, 5}),
          TROUPE_OTHER(statistics, {2, 4}),
          TROUPE_NONE(scale),
          TROUPE_SET(scale, 0.3),
          TROUPE_SET(scale, std::numeric_limits<double>::infinity()),
          TROUPE_NONE(soft_cap),
          TROUPE_SET(soft_cap, 1),
          TROUPE_SET(soft_cap, 0),
          TROUPE_NONE(bias),
          TROUPE_OTHER(bias, {1, 4, 5, 6}),
          TROUPE_OTHER(bias, {2, 4, 5, 5}),
          TROUPE_SET(alibi, false),
          TROUPE_NONE(window),
          {"window", [](R& r) { r.window.left = 0; }},
          {"window", [](R& r) { r.window.right = 0; }},
          {"window", [](R& r) { r.window.right = -1; }},
          {"window", [](R& r) { r.window.bottom_right = false; }},
          TROUPE_NONE(query_lengths),
          TROUPE_WHOLE(query_lengths, {2}, {5, 3}),
          TROUPE_WHOLE(query_lengths, {3}, {5, 3, 1}),
          TROUPE_NONE(key_lengths),
          TROUPE_WHOLE(key_lengths, {2}, {6, 3}),
          TROUPE_OTHER(key_lengths, {2}),
          TROUPE_WHOLE(query_offsets, {3}, {0, 2, 5}),
          {"query_offsets", [=](R& r) { put_in_one_row(r, t); }},
          {"query_offsets", [=](R& r) { put_in_one_row(r, t), r.query_offsets = t.whole({3}, {0, 4, 5}); }},
          TROUPE_WHOLE(key_offsets, {3}, {0, 2, 6}),
          {"key_offsets", [=](R& r) { put_in_one_row(r, t), r.key_offsets = t.whole({3}, {0, 4, 6}); }},
          TROUPE_SET(dropout, 0),
          {"dropout", [](R& r) { r.dropout = 0, r.step = {}; }},
          TROUPE_SET(dropout, 0.6),
          TROUPE_SET(dropout, 1),
          TROUPE_SET(seed, 6),
          TROUPE_SET(offset, 7),
          TROUPE_NONE(step),
          TROUPE_WHOLE(step, {1}, {8}),
          TROUPE_WHOLE(step, {2}, {8, 9})};
}

/// Returns `r` with the options of `shown_options`, and with the lengths, the bias and the step that these name.
template <class R>
R with_shown_options(R r, const tensor_source& t) {
  r.scale = 0.4;
  r.soft_cap = 2;
  r.bias = t({1, 4, 5, 6});
  r.alibi = true;
  r.window = shown_window;
  r.query_lengths = t.whole({2}, {5, 4}), r.key_lengths = t.whole({2}, {6, 5});
  r.dropout = 0.3;
  r.seed = 5, r.offset = 6;
  r.step = t.whole({1}, {7});
  return r;
}

struct attention_forward_case {
  using request = attention_forward;
  static request make(const tensor_source& t) {
    return with_shown_options(request{.q = t({2, 4, 5, 4}),
                                      .k = t({2, 2, 6, 4}),
                                      .v = t({2, 2, 6, 3}),
                                      .y = t({2, 4, 5, 3}),
                                      .statistics = t({2, 4, 5})},
                              t);
  }
  static std::vector<written> meaning(const request& r) {
    const attended a = attention(value(r.q), value(r.k), value(r.v), shown_options(r));
    return {{a.y, r.y}, {reshape(a.statistics, {2, 4, 5}), *r.statistics}};
  }
  static std::vector<change<request>> changes(const tensor_source& t) {
    const auto in_pages = [=](request& r) {
      r.k = t({5, 2, 2, 4}), r.v = t({5, 2, 2, 3});
      r.pages = t.whole({2, 3}, {4, 0, 2, 1, 1, 5});
    };
    return joined<request>(
        changes_of_attention<request>(t),
        {TROUPE_NONE(statistics),
         TROUPE_WHOLE(pages, {2, 3}, {4, 0, 2, 1, 1, 5}),
         {"pages", in_pages},
         {"pages", [=](request& r) { in_pages(r), r.pages = t.whole({2, 3}, {4, 0, 2, 1, 3, 5}); }},
         {"pages", [=](request& r) { in_pages(r), r.key_offsets = t.whole({3}, {0, 2, 5}), r.key_lengths = {}; }}});
  }
};

struct attention_backward_case {
  using request = attention_backward;
  static request make(const tensor_source& t) {
    return with_shown_options(request{.dy = t({2, 4, 5, 3}),
                                      .q = t({2, 4, 5, 4}),
                                      .k = t({2, 2, 6, 4}),
                                      .v = t({2, 2, 6, 3}),
                                      .y = t({2, 4, 5, 3}),
                                      .statistics = t({2, 4, 5}),
                                      .dq = t({2, 4, 5, 4}),
                                      .dk = t({2, 2, 6, 4}),
                                      .dv = t({2, 2, 6, 3}),
                                      .dbias = t({1, 4, 5, 6})},
                              t);
  }
  static std::vector<written> meaning(const request& r) {
    const attended of{value(r.y), reshape(value(r.statistics), {2, 4, 5, 1})};
    const attention_gradients g =
        attention_gradient(value(r.dy), of, value(r.q), value(r.k), value(r.v), shown_options(r));
    return {{g.dq, r.dq}, {g.dk, r.dk}, {g.dv, r.dv}, {g.dbias, *r.dbias}};
  }
  static std::vector<change<request>> changes(const tensor_source& t) {
    return joined<request>(changes_of_attention<request>(t), {TROUPE_OTHER(dy, {2, 4, 5, 3}),
                                                              TROUPE_OTHER(dy, {2, 4, 5, 4}),
                                                              TROUPE_OTHER(dq, {2, 4, 5, 4}),
                                                              TROUPE_OTHER(dq, {2, 4, 5}),
                                                              TROUPE_OTHER(dk, {2, 2, 6, 4}),
                                                              TROUPE_OTHER(dk, {2, 4, 6, 4}),
                                                              TROUPE_OTHER(dv, {2, 2, 6, 3}),
                                                              TROUPE_OTHER(dv, {2, 2, 6, 4}),
                                                              TROUPE_NONE(dbias),
                                                              TROUPE_OTHER(dbias, {4, 5, 6}),
                                                              TROUPE_OTHER(dbias, {5, 6}),
                                                              {"bias", [](request& r) { r.bias = {}, r.dbias = {}; }}});
  }
};

}  // namespace troupe::dnn::testing

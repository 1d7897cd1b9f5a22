// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <troupe/dnn/testing/ready_cases.hpp>

namespace troupe::dnn::testing {

template <class R>
std::vector<change<R>> changes_of_dropout(const tensor_source& t) {
  return {TROUPE_SET(probability, 0.7),
          TROUPE_SET(probability, 0),
          TROUPE_SET(probability, 1),
          TROUPE_SET(probability, 1.5),
          TROUPE_SET(seed, 8),
          TROUPE_SET(seed, 7 + (std::uint64_t{1} << 40)),
          TROUPE_SET(offset, 4),
          TROUPE_SET(offset, std::uint64_t{1} << 40),
          TROUPE_WHOLE(words, {2}, {5, 6}),
          {"words", [=](R& r) { r.seed = 0, r.words = t.whole({2}, {5, 6}); }},
          {"words", [=](R& r) { r.seed = 0, r.words = t.whole({4}, {5, 6, 7, 8}); }},
          {"words", [=](R& r) { r.seed = 0, r.words = t.whole({3}, {5, 6, 7}); }},
          {"words", [=](R& r) { r.seed = 0, r.words = t({2}); }}};
}

struct dropout_forward_case {
  using request = dropout_forward;
  static request make(const tensor_source& t) {
    return {.x = t({20, 7}), .y = t({20, 7}), .probability = 0.4, .seed = 7, .offset = 3};
  }
  static std::vector<written> meaning(const request& r) {
    const value keeps = less(random_uniform({20, 7}, {7, 3}), 0.6);
    return {{select(keeps, value(r.x) / 0.6, 0), r.y}};
  }
  static std::vector<change<request>> changes(const tensor_source& t) {
    return joined<request>(changes_of_dropout<request>(t),
                           {TROUPE_OTHER(x, {20, 7}), TROUPE_OTHER(y, {20, 7}), TROUPE_OTHER(y, {20, 6})});
  }
};
struct dropout_backward_case {
  using request = dropout_backward;
  static request make(const tensor_source& t) {
    return {.dy = t({20, 7}), .dx = t({20, 7}), .probability = 0.4, .seed = 7, .offset = 3};
  }
  static std::vector<written> meaning(const request& r) {
    const value keeps = less(random_uniform({20, 7}, {7, 3}), 0.6);
    return {{select(keeps, value(r.dy) / 0.6, 0), r.dx}};
  }
  static std::vector<change<request>> changes(const tensor_source& t) {
    return joined<request>(changes_of_dropout<request>(t),
                           {TROUPE_OTHER(dy, {20, 7}), TROUPE_OTHER(dx, {20, 7}), TROUPE_OTHER(dx, {20, 6})});
  }
};

template <class R>
std::vector<change<R>> changes_of_lrn(const tensor_source& t) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  return {TROUPE_OTHER(x, {2, 6, 3, 2}), TROUPE_OTHER(x, {6}), TROUPE_SET(size, 4),   TROUPE_SET(size, 1),
          TROUPE_SET(size, 0),           TROUPE_SET(alpha, 1), TROUPE_SET(alpha, -1), TROUPE_SET(beta, 0.75),
          TROUPE_SET(beta, nan),         TROUPE_SET(k, 2),     TROUPE_SET(k, 0)};
}
struct lrn_forward_case {
  using request = lrn_forward;
  static request make(const tensor_source& t) {
    return {.x = t({2, 6, 3, 2}), .y = t({2, 6, 3, 2}), .size = 3, .alpha = 0.5, .beta = 0.8, .k = 1.5};
  }
  static std::vector<written> meaning(const request& r) {
    return {{local_response_norm(value(r.x), {.size = 3, .alpha = 0.5, .beta = 0.8, .k = 1.5}), r.y}};
  }
  static std::vector<change<request>> changes(const tensor_source& t) {
    return joined<request>(changes_of_lrn<request>(t), {TROUPE_OTHER(y, {2, 6, 3, 2}), TROUPE_OTHER(y, {2, 6, 3})});
  }
};
struct lrn_backward_case {
  using request = lrn_backward;
  static request make(const tensor_source& t) {
    return {.dy = t({2, 6, 3, 2}),
            .x = t({2, 6, 3, 2}),
            .dx = t({2, 6, 3, 2}),
            .size = 3,
            .alpha = 0.5,
            .beta = 0.8,
            .k = 1.5};
  }
  static std::vector<written> meaning(const request& r) {
    return {{local_response_norm_gradient(value(r.dy), value(r.x), {.size = 3, .alpha = 0.5, .beta = 0.8, .k = 1.5}),
             r.dx}};
  }
  static std::vector<change<request>> changes(const tensor_source& t) {
    return joined<request>(changes_of_lrn<request>(t), {TROUPE_OTHER(dy, {2, 6, 3, 2}), TROUPE_OTHER(dy, {2, 6, 3, 1}),
                                                        TROUPE_OTHER(dx, {2, 6, 3, 2}), TROUPE_OTHER(dx, {2, 6, 3})});
  }
};

template <class R>
std::vector<change<R>> changes_of_resampling(const tensor_source&) {
  return {TROUPE_SET(kind, resampling_kind::nearest),
          TROUPE_SET(kind, resampling_kind::cubic),
          TROUPE_SET(kind, resampling_kind(7)),
          TROUPE_SET(coordinates, resampling_coordinates::align_corners),
          TROUPE_SET(coordinates, resampling_coordinates(7)),
          TROUPE_SET(rounding, nearest_rounding(7))};
}
struct resample_forward_case {
  using request = resample_forward;
  static request make(const tensor_source& t) { return {.x = t({2, 3, 4, 5}), .y = t({2, 3, 7, 3})}; }
  static std::vector<written> meaning(const request& r) { return {{resample(value(r.x), {7, 3}), r.y}}; }
  static std::vector<change<request>> changes(const tensor_source& t) {
    return joined<request>(changes_of_resampling<request>(t),
                           {TROUPE_OTHER(x, {2, 3, 4, 5}), TROUPE_OTHER(x, {2, 3}), TROUPE_OTHER(y, {2, 3, 7, 3}),
                            TROUPE_OTHER(y, {2, 3, 8, 3}), TROUPE_OTHER(y, {2, 2, 7, 3}), TROUPE_OTHER(y, {2, 3, 7})});
  }
};
struct resample_backward_case {
  using request = resample_backward;
  static request make(const tensor_source& t) { return {.dy = t({2, 3, 7, 3}), .dx = t({2, 3, 4, 5})}; }
  static std::vector<written> meaning(const request& r) { return {{resample_gradient(value(r.dy), {4, 5}), r.dx}}; }
  static std::vector<change<request>> changes(const tensor_source& t) {
    return joined<request>(
        changes_of_resampling<request>(t),
        {TROUPE_OTHER(dy, {2, 3, 7, 3}), TROUPE_OTHER(dy, {2, 3, 6, 3}), TROUPE_OTHER(dy, {2, 3, 7}),
         TROUPE_OTHER(dx, {2, 3, 4, 5}), TROUPE_OTHER(dx, {2, 3, 5, 5}), TROUPE_OTHER(dx, {2, 3, 20})});
  }
};

}  // namespace troupe::dnn::testing

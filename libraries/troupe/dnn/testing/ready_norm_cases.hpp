// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/testing/ready_cases.hpp>

namespace troupe::dnn::testing {

struct batch_norm_training_case {
  using request = batch_norm_training;
  static request make(const tensor_source& t) {
    return {.x = t({3, 4, 5, 2}),
            .y = t({3, 4, 5, 2}),
            .scale = t({4}),
            .offset = t({1, 4, 1, 1}),
            .running_mean = t({4}),
            .running_variance = t({4}),
            .mean = t({4}),
            .inverse_deviation = t({1, 4, 1, 1}),
            .epsilon = 1e-2,
            .momentum = 0.3};
  }
  static std::vector<written> meaning(const request& r) {
    const auto of = [](const auto& o) { return channels(value(in_any(o->range(), o->shape(), o->type()))); };
    const batch_normalized n = batch_norm(value(r.x), 1e-2, affine{of(r.scale), value(*r.offset)},
                                          running_averages{of(r.running_mean), of(r.running_variance), 0.3});
    const auto to = [](const auto& o) { return out_any(o->range(), o->shape(), o->type()); };
    return {{n.y, r.y},
            {reshape(n.next_mean, {4}), to(r.running_mean)},
            {reshape(n.next_variance, {4}), to(r.running_variance)},
            {reshape(n.mean, {4}), *r.mean},
            {n.inverse_deviation, *r.inverse_deviation}};
  }
  static std::vector<change<request>> changes(const tensor_source& t) {
    return {TROUPE_OTHER(x, {3, 4, 5, 2}),
            TROUPE_OTHER(y, {3, 4, 5, 2}),
            TROUPE_OTHER(y, {3, 4, 5}),
            TROUPE_NONE(scale),
            TROUPE_OTHER(scale, {4}),
            TROUPE_OTHER(scale, {5}),
            TROUPE_NONE(offset),
            TROUPE_OTHER(offset, {4}),
            TROUPE_NONE(running_mean),
            TROUPE_OTHER(running_mean, {1, 4, 1, 1}),
            TROUPE_NONE(running_variance),
            TROUPE_OTHER(running_variance, {3}),
            TROUPE_NONE(mean),
            TROUPE_OTHER(mean, {3}),
            TROUPE_NONE(inverse_deviation),
            TROUPE_SET(epsilon, 1),
            TROUPE_SET(epsilon, -1),
            TROUPE_SET(momentum, 1),
            TROUPE_SET(momentum, 2),
            {"scale", [](request& r) { r.scale = r.offset = {}; }},
            {"running_mean", [](request& r) { r.running_mean = r.running_variance = {}; }}};
  }
};

struct batch_norm_inference_case {
  using request = batch_norm_inference;
  static request make(const tensor_source& t) {
    return {.x = t({3, 4, 5, 2}),
            .mean = t({4}),
            .variance = t({4}),
            .y = t({3, 4, 5, 2}),
            .scale = t({4}),
            .offset = t({1, 4, 1, 1}),
            .activation = activation_kind::relu,
            .epsilon = 2};
  }
  static std::vector<written> meaning(const request& r) {
    const value m = channels(value(r.mean)), v = channels(value(r.variance));
    return {{relu((value(r.x) - m) / sqrt(v + 2) * channels(value(*r.scale)) + value(*r.offset)), r.y}};
  }
  static std::vector<change<request>> changes(const tensor_source& t) {
    return {TROUPE_OTHER(x, {3, 4, 5, 2}),
            TROUPE_OTHER(x, {4}),
            TROUPE_OTHER(mean, {1, 4, 1, 1}),
            TROUPE_OTHER(mean, {3}),
            TROUPE_OTHER(variance, {4}),
            TROUPE_OTHER(variance, {4, 1}),
            TROUPE_OTHER(y, {3, 4, 5, 2}),
            TROUPE_NONE(scale),
            TROUPE_OTHER(scale, {4}),
            TROUPE_NONE(offset),
            TROUPE_OTHER(offset, {4}),
            TROUPE_SET(activation, {}),
            TROUPE_SET(epsilon, 1),
            TROUPE_SET(epsilon, -1),
            {"scale", [](request& r) { r.scale = r.offset = {}; }}};
  }
};

/// Returns the results that define the gradient of a normalization whose scale has an element for each channel.
template <class R>
std::vector<written> definition_of_gradient(const R& r, const std::vector<std::int64_t>& statistics,
                                            const std::vector<std::int64_t>& scale) {
  const auto of = [](const in_any& o, const std::vector<std::int64_t>& e) { return reshape(value(o), e); };
  const auto g = normalization_gradient(value(r.dy), value(r.x),
                                        {value(r.x), of(r.mean, statistics), of(r.inverse_deviation, statistics)},
                                        of(*r.scale, scale));
  const auto like = [](const value& v, const out_any& to) {
    return written{reshape(v, std::span(to.shape().extents.data(), to.shape().rank)), to};
  };
  return {{g.dx, r.dx}, like(g.dscale, *r.dscale), like(g.doffset, *r.doffset)};
}
/// Returns a normalization of a tensor with four axes, with two groups if it has groups.
template <class R>
R forward_with(const tensor_source& t, const tensor_source::extents& mean,
               const tensor_source::extents& inverse_deviation, const tensor_source::extents& scale,
               const tensor_source::extents& offset) {
  const tensor_source::extents x{3, 4, 5, 2};
  R r = [&]() -> R {
    if constexpr (requires(const R& any) { any.groups; })
      return {.x = t(x), .y = t(x), .groups = 2};
    else
      return {.x = t(x), .y = t(x)};
  }();
  r.scale = t(scale), r.offset = t(offset);
  r.epsilon = 1e-2;
  r.mean = t(mean), r.inverse_deviation = t(inverse_deviation);
  return r;
}
/// Returns the request for the gradient of such a normalization.
template <class R>
R gradient_with(const tensor_source& t, const tensor_source::extents& mean,
                const tensor_source::extents& inverse_deviation, const tensor_source::extents& scale,
                const tensor_source::extents& offset) {
  const tensor_source::extents x{3, 4, 5, 2};
  R r = [&]() -> R {
    if constexpr (requires(const R& any) { any.groups; })
      return {
          .dy = t(x), .x = t(x), .mean = t(mean), .inverse_deviation = t(inverse_deviation), .dx = t(x), .groups = 2};
    else
      return {.dy = t(x), .x = t(x), .mean = t(mean), .inverse_deviation = t(inverse_deviation), .dx = t(x)};
  }();
  r.scale = t(scale);
  r.dscale = t(scale), r.doffset = t(offset);
  return r;
}
template <class R>
std::vector<change<R>> changes_of_gradient(const tensor_source& t, const std::vector<std::int64_t>& statistics,
                                           const std::vector<std::int64_t>& scale) {
  return {TROUPE_OTHER(dy, {3, 4, 5, 2}),
          TROUPE_OTHER(dy, {3, 4, 5, 3}),
          TROUPE_OTHER(x, {3, 4, 5, 2}),
          TROUPE_OTHER(mean, statistics),
          TROUPE_OTHER(mean, {3, 3, 3}),
          TROUPE_OTHER(inverse_deviation, statistics),
          TROUPE_OTHER(inverse_deviation, {7}),
          TROUPE_OTHER(dx, {3, 4, 5, 2}),
          TROUPE_OTHER(dx, {3, 4, 10}),
          TROUPE_NONE(scale),
          TROUPE_OTHER(scale, scale),
          TROUPE_OTHER(scale, {9}),
          TROUPE_NONE(dscale),
          TROUPE_OTHER(dscale, {9}),
          TROUPE_NONE(doffset),
          TROUPE_OTHER(doffset, scale),
          {"scale", [](R& r) { r.scale = {}, r.dscale = r.doffset = {}; }}};
}
template <class R>
std::vector<change<R>> changes_of_forward(const tensor_source& t, const std::vector<std::int64_t>& statistics,
                                          const std::vector<std::int64_t>& scale) {
  return {TROUPE_OTHER(x, {3, 4, 5, 2}),
          TROUPE_OTHER(y, {3, 4, 5, 2}),
          TROUPE_OTHER(y, {3, 4, 10}),
          TROUPE_NONE(scale),
          TROUPE_OTHER(scale, scale),
          TROUPE_OTHER(scale, {9}),
          TROUPE_NONE(offset),
          TROUPE_OTHER(offset, scale),
          TROUPE_SET(epsilon, 1),
          TROUPE_SET(epsilon, -1),
          TROUPE_NONE(mean),
          TROUPE_OTHER(mean, statistics),
          TROUPE_OTHER(mean, {7}),
          TROUPE_NONE(inverse_deviation),
          TROUPE_OTHER(inverse_deviation, {7}),
          {"scale", [](R& r) { r.scale = r.offset = {}; }}};
}
template <class R>
std::vector<written> definition_of_normalization(const R& r, const normalized& n) {
  const auto like = [](const value& v, const out_any& to) {
    return written{reshape(v, std::span(to.shape().extents.data(), to.shape().rank)), to};
  };
  return {{n.y, r.y}, like(n.mean, *r.mean), like(n.inverse_deviation, *r.inverse_deviation)};
}

struct batch_norm_backward_case {
  using request = batch_norm_backward;
  static request make(const tensor_source& t) {
    return gradient_with<request>(t, {4}, {1, 4, 1, 1}, {4}, {1, 4, 1, 1});
  }
  static std::vector<written> meaning(const request& r) {
    return definition_of_gradient(r, {1, 4, 1, 1}, {1, 4, 1, 1});
  }
  static std::vector<change<request>> changes(const tensor_source& t) {
    return changes_of_gradient<request>(t, {4}, {4});
  }
};

struct layer_norm_forward_case {
  using request = layer_norm_forward;
  static request make(const tensor_source& t) {
    request r = forward_with<request>(t, {3, 4}, {3, 4, 1, 1}, {5, 2}, {1, 1, 5, 2});
    r.count = 2;
    return r;
  }
  static std::vector<written> meaning(const request& r) {
    return definition_of_normalization(
        r, layer_norm(value(r.x), 2, 1e-2, affine{reshape(value(*r.scale), {1, 1, 5, 2}), value(*r.offset)}));
  }
  static std::vector<change<request>> changes(const tensor_source& t) {
    return joined<request>(changes_of_forward<request>(t, {3, 4}, {5, 2}),
                           {TROUPE_SET(count, 1), TROUPE_SET(count, 0), TROUPE_SET(count, 5)});
  }
};
struct layer_norm_backward_case {
  using request = layer_norm_backward;
  static request make(const tensor_source& t) {
    request r = gradient_with<request>(t, {3, 4}, {3, 4, 1, 1}, {5, 2}, {1, 1, 5, 2});
    r.count = 2;
    return r;
  }
  static std::vector<written> meaning(const request& r) {
    return definition_of_gradient(r, {3, 4, 1, 1}, {1, 1, 5, 2});
  }
  static std::vector<change<request>> changes(const tensor_source& t) {
    return joined<request>(changes_of_gradient<request>(t, {3, 4}, {5, 2}),
                           {TROUPE_SET(count, 1), TROUPE_SET(count, 0)});
  }
};

struct rms_norm_forward_case {
  using request = rms_norm_forward;
  static request make(const tensor_source& t) {
    return {.x = t({3, 4, 10}),
            .y = t({3, 4, 10}),
            .scale = t({10}),
            .count = 1,
            .epsilon = 1e-2,
            .inverse_deviation = t({3, 4})};
  }
  static std::vector<written> meaning(const request& r) {
    const normalized n = rms_norm(value(r.x), 1, 1e-2, reshape(value(*r.scale), {1, 1, 10}));
    return {{n.y, r.y}, {reshape(n.inverse_deviation, {3, 4}), *r.inverse_deviation}};
  }
  static std::vector<change<request>> changes(const tensor_source& t) {
    return {TROUPE_OTHER(x, {3, 4, 10}),
            TROUPE_OTHER(y, {3, 4, 10}),
            TROUPE_OTHER(y, {3, 4, 9}),
            TROUPE_NONE(scale),
            TROUPE_OTHER(scale, {1, 1, 10}),
            TROUPE_OTHER(scale, {9}),
            TROUPE_SET(count, 2),
            TROUPE_SET(epsilon, 1),
            TROUPE_NONE(inverse_deviation),
            TROUPE_OTHER(inverse_deviation, {4, 3})};
  }
};
struct rms_norm_backward_case {
  using request = rms_norm_backward;
  static request make(const tensor_source& t) {
    return {.dy = t({3, 4, 10}),
            .x = t({3, 4, 10}),
            .inverse_deviation = t({3, 4}),
            .dx = t({3, 4, 10}),
            .scale = t({10}),
            .dscale = t({10})};
  }
  static std::vector<written> meaning(const request& r) {
    const value d = reshape(value(r.inverse_deviation), {3, 4, 1});
    const auto g =
        rms_norm_gradient(value(r.dy), value(r.x), {value(r.x), d * 0, d}, reshape(value(*r.scale), {1, 1, 10}));
    return {{g.dx, r.dx}, {reshape(g.dscale, {10}), *r.dscale}};
  }
  static std::vector<change<request>> changes(const tensor_source& t) {
    return {TROUPE_OTHER(dy, {3, 4, 10}),
            TROUPE_OTHER(dy, {3, 4, 9}),
            TROUPE_OTHER(x, {3, 4, 10}),
            TROUPE_OTHER(inverse_deviation, {3, 4, 1}),
            TROUPE_OTHER(inverse_deviation, {4, 3}),
            TROUPE_OTHER(dx, {3, 4, 10}),
            TROUPE_NONE(scale),
            TROUPE_OTHER(scale, {10}),
            TROUPE_NONE(dscale),
            TROUPE_OTHER(dscale, {9}),
            TROUPE_SET(count, 2),
            {"scale", [](request& r) { r.scale = {}, r.dscale = {}; }}};
  }
};

struct group_norm_forward_case {
  using request = group_norm_forward;
  static request make(const tensor_source& t) {
    return forward_with<request>(t, {3, 2}, {3, 2, 1, 1}, {4}, {1, 4, 1, 1});
  }
  static std::vector<written> meaning(const request& r) {
    return definition_of_normalization(
        r, group_norm(value(r.x), 2, 1e-2, affine{channels(value(*r.scale)), value(*r.offset)}));
  }
  static std::vector<change<request>> changes(const tensor_source& t) {
    return joined<request>(changes_of_forward<request>(t, {3, 2}, {4}), {TROUPE_SET(groups, 1), TROUPE_SET(groups, 3)});
  }
};
struct group_norm_backward_case {
  using request = group_norm_backward;
  static request make(const tensor_source& t) {
    return gradient_with<request>(t, {3, 2}, {3, 2, 1, 1}, {4}, {1, 4, 1, 1});
  }
  static std::vector<written> meaning(const request& r) {
    return definition_of_gradient(r, {3, 2, 1, 1}, {1, 4, 1, 1});
  }
  static std::vector<change<request>> changes(const tensor_source& t) {
    return joined<request>(changes_of_gradient<request>(t, {3, 2}, {4}),
                           {TROUPE_SET(groups, 4), TROUPE_SET(groups, 3)});
  }
};

struct instance_norm_forward_case {
  using request = instance_norm_forward;
  static request make(const tensor_source& t) {
    return forward_with<request>(t, {3, 4}, {3, 4, 1, 1}, {4}, {1, 4, 1, 1});
  }
  static std::vector<written> meaning(const request& r) {
    return definition_of_normalization(
        r, instance_norm(value(r.x), 1e-2, affine{channels(value(*r.scale)), value(*r.offset)}));
  }
  static std::vector<change<request>> changes(const tensor_source& t) {
    return changes_of_forward<request>(t, {3, 4}, {4});
  }
};
struct instance_norm_backward_case {
  using request = instance_norm_backward;
  static request make(const tensor_source& t) {
    return gradient_with<request>(t, {3, 4}, {3, 4, 1, 1}, {4}, {1, 4, 1, 1});
  }
  static std::vector<written> meaning(const request& r) {
    return definition_of_gradient(r, {3, 4, 1, 1}, {1, 4, 1, 1});
  }
  static std::vector<change<request>> changes(const tensor_source& t) {
    return changes_of_gradient<request>(t, {3, 4}, {4});
  }
};

}  // namespace troupe::dnn::testing

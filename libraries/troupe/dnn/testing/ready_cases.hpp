// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <set>
#include <string>
#include <troupe/dnn/dnn.hpp>
#include <troupe/dnn/graph/producer.hpp>
#include <vector>

/// An instance of each ready request in which every field has an effect, and changes of each field. For a new request,
/// add a struct here, and an entry in `all_ready_cases` (all_ready_cases.hpp).
namespace troupe::dnn::testing {

/// A tensor in memory that converts to an operand of any access mode.
struct tensor_in_memory {
  memory_range range;
  tensor_shape shape;
  dtype type;
  template <access_mode M>
  operator any_operand<M>() const {
    return {range, shape, type};
  }
  template <access_mode M>
  operator std::optional<any_operand<M>>() const {
    return any_operand<M>(range, shape, type);
  }
};
/// Makes tensors in memory, with random numbers or with given i32.
struct tensor_source {
  using extents = std::vector<std::int64_t>;
  std::function<tensor_in_memory(const extents&)> random;
  std::function<tensor_in_memory(const extents&, const std::vector<std::int32_t>& numbers)> whole;
  tensor_in_memory operator()(const extents& e) const { return random(e); }
};

template <class R>
struct change {
  const char* field;
  std::function<void(R&)> make;
};

#define TROUPE_OTHER(FIELD, ...) {#FIELD, [=](auto& r) { r.FIELD = t(__VA_ARGS__); }}
#define TROUPE_WHOLE(FIELD, ...) {#FIELD, [=](auto& r) { r.FIELD = t.whole(__VA_ARGS__); }}
#define TROUPE_SET(FIELD, ...) {#FIELD, [=](auto& r) { r.FIELD = __VA_ARGS__; }}
#define TROUPE_NONE(FIELD) {#FIELD, [=](auto& r) { r.FIELD = {}; }}

/// Changes of each option.
template <class R>
std::vector<change<R>> changes_of_options() {
  return {TROUPE_SET(options.precision, precision::tf32), TROUPE_SET(options.repeatability, repeatability::not_needed),
          TROUPE_SET(options.fusion, fusion::required), TROUPE_SET(options.choice, choice::measured),
          TROUPE_SET(options.workspace, 1 << 30)};
}
/// Returns the names of fields, with "options.precision" and so on instead of "options".
inline std::set<std::string> names_with_options(std::string_view fields) {
  std::set<std::string> out;
  for (std::size_t i = 0; !nth_name(fields, i).empty(); ++i) out.emplace(nth_name(fields, i));
  if (out.erase("options") != 0)
    for (std::size_t i = 0; !nth_name(computation_options::request_fields, i).empty(); ++i)
      out.insert(std::string("options.").append(nth_name(computation_options::request_fields, i)));
  return out;
}

/// Returns all of these changes.
template <class R>
std::vector<change<R>> joined(std::vector<change<R>> all, const std::vector<change<R>>& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

/// Returns `r` with windows that differ in each axis and on each side; a convolution gets two groups.
template <class R>
R with_uneven_windows(R r) {
  r.padding = {1, 0}, r.padding_after = {2, 1};
  r.stride = {2, 1};
  r.dilation = {1, 2};
  if constexpr (requires { r.groups; }) r.groups = 2;
  return r;
}
/// Changes of each factor, and of each field that places the windows.
template <class R>
std::vector<change<R>> changes_of_convolution() {
  return {TROUPE_SET(alpha, 1),  TROUPE_SET(beta, 0),     TROUPE_SET(padding, {2, 0}), TROUPE_SET(padding_after, 1),
          TROUPE_SET(stride, 1), TROUPE_SET(dilation, 1), TROUPE_SET(groups, 1)};
}

struct conv_forward_case {
  using request = conv_forward;
  static request make(const tensor_source& t) {
    return with_uneven_windows(request{.x = t({2, 4, 6, 5}),
                                       .filters = t({6, 2, 3, 2}),
                                       .y = t({2, 6, 4, 4}),
                                       .bias = t({6}),
                                       .residual = t({2, 6, 4, 4}),
                                       .alpha = 0.5,
                                       .beta = 2,
                                       .activation = {activation_kind::leaky_relu, 0.1}});
  }
  static std::vector<written> meaning(const request& r) {
    const auto o = with_uneven_windows(convolution_options{});
    return {{leaky_relu(
                 0.5 * convolution(value(r.x), value(r.filters), o) + 2 * value(*r.residual) + channels(value(*r.bias)),
                 0.1),
             r.y}};
  }
  static std::vector<change<request>> changes(const tensor_source& t) {
    return joined<request>(
        changes_of_convolution<request>(),
        {TROUPE_OTHER(x, {2, 4, 6, 5}), TROUPE_OTHER(filters, {6, 2, 3, 2}), TROUPE_OTHER(y, {2, 6, 4, 4}),
         TROUPE_NONE(bias), TROUPE_OTHER(bias, {1, 6, 1, 1}), TROUPE_OTHER(bias, {5}), TROUPE_NONE(residual),
         TROUPE_OTHER(residual, {2, 6, 4, 3}), TROUPE_SET(beta, 1), TROUPE_SET(activation, activation_kind::gelu),
         TROUPE_SET(activation, {activation_kind::relu, 0.1})});
  }
};

struct conv_data_backward_case {
  using request = conv_data_backward;
  static request make(const tensor_source& t) {
    return with_uneven_windows(
        request{.dy = t({2, 6, 4, 4}), .filters = t({6, 2, 3, 2}), .dx = t({2, 4, 6, 5}), .alpha = 0.5, .beta = 2});
  }
  static std::vector<written> meaning(const request& r) {
    const auto o = with_uneven_windows(convolution_options{});
    return {
        {0.5 * convolution_data_gradient(value(r.dy), value(r.filters), {2, 4, 6, 5}, o) + 2 * content(r.dx), r.dx}};
  }
  static std::vector<change<request>> changes(const tensor_source& t) {
    return joined<request>(
        changes_of_convolution<request>(),
        {TROUPE_OTHER(dy, {2, 6, 4, 4}), TROUPE_OTHER(dy, {2, 6, 4, 3}), TROUPE_OTHER(filters, {6, 2, 3, 2}),
         TROUPE_OTHER(dx, {2, 4, 6, 5}), TROUPE_OTHER(dx, {2, 4, 6})});
  }
  static value content(const out_any& o) { return value(in_any(o.range(), o.shape(), o.type())); }
};

struct conv_weight_backward_case {
  using request = conv_weight_backward;
  static request make(const tensor_source& t) {
    return with_uneven_windows(
        request{.dy = t({2, 6, 4, 4}), .x = t({2, 4, 6, 5}), .dfilters = t({6, 2, 3, 2}), .alpha = 0.5, .beta = 2});
  }
  static std::vector<written> meaning(const request& r) {
    const auto o = with_uneven_windows(convolution_options{});
    return {{0.5 * convolution_weight_gradient(value(r.dy), value(r.x), {6, 2, 3, 2}, o) +
                 2 * conv_data_backward_case::content(r.dfilters),
             r.dfilters}};
  }
  static std::vector<change<request>> changes(const tensor_source& t) {
    return joined<request>(
        changes_of_convolution<request>(),
        {TROUPE_OTHER(dy, {2, 6, 4, 4}), TROUPE_OTHER(x, {2, 4, 6, 5}), TROUPE_OTHER(x, {2, 3, 6, 5}),
         TROUPE_OTHER(dfilters, {6, 2, 3, 2}), TROUPE_OTHER(dfilters, {6, 3, 3, 2})});
  }
};

struct pool_forward_case {
  using request = pool_forward;
  static request make(const tensor_source& t) {
    return with_uneven_windows(request{.x = t({2, 3, 7, 6}), .y = t({2, 3, 4, 5}), .window = {3, 2}});
  }
  static std::vector<written> meaning(const request& r) {
    return {{max_pool(value(r.x), {3, 2}, with_uneven_windows(pooling_options{})), r.y}};
  }
  static std::vector<change<request>> changes(const tensor_source& t) {
    return {TROUPE_OTHER(x, {2, 3, 7, 6}),
            TROUPE_OTHER(y, {2, 3, 4, 5}),
            TROUPE_OTHER(y, {2, 3, 4, 4}),
            TROUPE_SET(window, {4, 2}),
            TROUPE_SET(kind, pooling_kind::mean),
            TROUPE_SET(kind, pooling_kind::mean_of_image),
            TROUPE_SET(kind, pooling_kind(7)),
            TROUPE_SET(padding, {2, 0}),
            TROUPE_SET(padding_after, 0),
            TROUPE_SET(stride, 1),
            TROUPE_SET(dilation, 1)};
  }
};

struct pool_backward_case {
  using request = pool_backward;
  static request make(const tensor_source& t) {
    return with_uneven_windows(
        request{.dy = t({2, 3, 4, 5}), .dx = t({2, 3, 7, 6}), .window = {3, 2}, .x = t({2, 3, 7, 6})});
  }
  static std::vector<written> meaning(const request& r) {
    return {{max_pool_gradient(value(r.dy), value(*r.x), {3, 2}, with_uneven_windows(pooling_options{})), r.dx}};
  }
  static std::vector<change<request>> changes(const tensor_source& t) {
    return {TROUPE_OTHER(dy, {2, 3, 4, 5}),
            TROUPE_OTHER(dx, {2, 3, 7, 6}),
            TROUPE_OTHER(dx, {2, 3, 7}),
            TROUPE_SET(window, {4, 2}),
            TROUPE_NONE(x),
            TROUPE_OTHER(x, {2, 3, 7, 6}),
            TROUPE_SET(kind, pooling_kind::mean),
            {"kind", [](request& r) { r.kind = pooling_kind::mean, r.x = {}; }},
            {"kind", [](request& r) { r.kind = pooling_kind::mean_of_image, r.x = {}; }},
            TROUPE_SET(padding, {2, 0}),
            TROUPE_SET(padding_after, 0),
            TROUPE_SET(stride, 1),
            TROUPE_SET(dilation, 1)};
  }
};

struct softmax_forward_case {
  using request = softmax_forward;
  static request make(const tensor_source& t) { return {.x = t({3, 5, 4}), .y = t({3, 5, 4}), .over = 2}; }
  static std::vector<written> meaning(const request& r) { return {{softmax(value(r.x), 2), r.y}}; }
  static std::vector<change<request>> changes(const tensor_source& t) {
    return {TROUPE_OTHER(x, {3, 5, 4}), TROUPE_OTHER(y, {3, 5, 4}), TROUPE_OTHER(y, {3, 4, 5}),
            TROUPE_SET(over, 1),        TROUPE_SET(over, 3),        TROUPE_SET(logarithmic, true)};
  }
};
struct softmax_backward_case {
  using request = softmax_backward;
  static request make(const tensor_source& t) {
    return {.dy = t({3, 5, 4}), .y = t({3, 5, 4}), .dx = t({3, 5, 4}), .over = 2};
  }
  static std::vector<written> meaning(const request& r) {
    return {{softmax_gradient(value(r.dy), value(r.y), 2), r.dx}};
  }
  static std::vector<change<request>> changes(const tensor_source& t) {
    return {TROUPE_OTHER(dy, {3, 5, 4}),  TROUPE_OTHER(dy, {3, 5, 5}), TROUPE_OTHER(y, {3, 5, 4}),
            TROUPE_OTHER(dx, {3, 5, 4}),  TROUPE_SET(over, 1),         TROUPE_SET(over, 3),
            TROUPE_SET(logarithmic, true)};
  }
};

struct activation_forward_case {
  using request = activation_forward;
  static request make(const tensor_source& t) {
    return {.x = t({3, 50}), .y = t({3, 50}), .activation = activation_kind::tanh};
  }
  static std::vector<written> meaning(const request& r) { return {{tanh(value(r.x)), r.y}}; }
  static std::vector<change<request>> changes(const tensor_source& t) {
    std::vector<change<request>> out{TROUPE_OTHER(x, {3, 50}), TROUPE_OTHER(y, {3, 50}), TROUPE_OTHER(y, {50, 3}),
                                     TROUPE_SET(activation, {activation_kind::tanh, 0.1}),
                                     TROUPE_SET(activation, activation_kind(77))};
    for (const auto k :
         {activation_kind::none, activation_kind::relu, activation_kind::gelu, activation_kind::gelu_tanh,
          activation_kind::silu, activation_kind::sigmoid, activation_kind::softplus, activation_kind::hard_swish})
      out.push_back(TROUPE_SET(activation, k));
    for (const auto k : {activation_kind::leaky_relu, activation_kind::elu})
      out.push_back(TROUPE_SET(activation, {k, 0.3}));
    return out;
  }
};
struct activation_backward_case {
  using request = activation_backward;
  static request make(const tensor_source& t) {
    return {.dy = t({3, 50}), .dx = t({3, 50}), .activation = activation_kind::tanh, .x = t({3, 50})};
  }
  static std::vector<written> meaning(const request& r) { return {{value(r.dy) * d_tanh(value(*r.x)), r.dx}}; }
  static std::vector<change<request>> changes(const tensor_source& t) {
    std::vector<change<request>> out{TROUPE_OTHER(dy, {3, 50}), TROUPE_OTHER(dx, {3, 50}),
                                     TROUPE_OTHER(dx, {50, 3}), TROUPE_OTHER(x, {3, 50}),
                                     TROUPE_OTHER(x, {3, 49}),  TROUPE_NONE(x),
                                     TROUPE_OTHER(y, {3, 50}),  TROUPE_SET(activation, {activation_kind::tanh, 0.1})};
    for (const bool of_y : {false, true})
      for (auto k = activation_kind::none; is_known(k); k = static_cast<activation_kind>(static_cast<int>(k) + 1)) {
        if (k == activation_kind::tanh && !of_y) continue;
        const bool has_slope = k == activation_kind::leaky_relu || k == activation_kind::elu;
        out.push_back({"activation", [=](request& r) {
                         r.activation = {k, has_slope ? 0.3 : 0};
                         if (of_y) std::swap(r.x, r.y);
                       }});
      }
    return out;
  }
};

struct reduction_case {
  using request = reduction;
  static request make(const tensor_source& t) {
    return {.x = t({3, 4, 5}), .y = t({3, 1, 1}), .alpha = 0.5, .beta = 2};
  }
  static std::vector<written> meaning(const request& r) {
    return {{0.5 * reduce(value(r.x), reduction_kind::sum, {1, 2}) + 2 * conv_data_backward_case::content(r.y), r.y}};
  }
  static std::vector<change<request>> changes(const tensor_source& t) {
    return {TROUPE_OTHER(x, {3, 4, 5}),
            TROUPE_OTHER(y, {3, 1, 1}),
            TROUPE_OTHER(y, {3, 4, 5}),
            TROUPE_OTHER(y, {3}),
            TROUPE_OTHER(y, {3, 4, 1}),
            TROUPE_OTHER(y, {2, 1, 1}),
            TROUPE_SET(kind, reduction_kind::norm2),
            TROUPE_SET(kind, reduction_kind(9)),
            TROUPE_SET(alpha, 1),
            TROUPE_SET(beta, 0)};
  }
};
struct transform_case {
  using request = transform;
  static request make(const tensor_source& t) {
    return {.x = t({3, 4, 5}), .y = t({3, 4, 5}), .alpha = 0.5, .beta = 2};
  }
  static std::vector<written> meaning(const request& r) {
    return {{0.5 * value(r.x) + 2 * conv_data_backward_case::content(r.y), r.y}};
  }
  static std::vector<change<request>> changes(const tensor_source& t) {
    return {TROUPE_OTHER(x, {3, 4, 5}), TROUPE_OTHER(x, {3, 4, 4}), TROUPE_OTHER(y, {3, 4, 5}), TROUPE_SET(alpha, 1),
            TROUPE_SET(beta, 0)};
  }
};

}  // namespace troupe::dnn::testing

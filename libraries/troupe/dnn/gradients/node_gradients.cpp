// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/cat.hpp>
#include <troupe/dnn/gradients/derivatives.hpp>
#include <troupe/dnn/graph/node_maker.hpp>
#include <troupe/dnn/operations/attention/attributes.hpp>
#include <troupe/dnn/operations/ctc/ctc.hpp>
#include <troupe/dnn/operations/normalization/attributes.hpp>
#include <troupe/dnn/operations/normalization/normalization.hpp>
#include <troupe/dnn/operations/pointwise/attributes.hpp>
#include <troupe/dnn/operations/pointwise/pointwise.hpp>
#include <troupe/dnn/operations/pooling/attributes.hpp>
#include <troupe/dnn/operations/recurrence/attributes.hpp>
#include <troupe/dnn/operations/recurrence/layout.hpp>
#include <troupe/dnn/operations/recurrence/recurrence.hpp>
#include <troupe/dnn/operations/reductions/attributes.hpp>
#include <troupe/dnn/operations/reductions/reductions.hpp>
#include <troupe/dnn/operations/shaping/attributes.hpp>
#include <troupe/dnn/operations/shaping/shaping.hpp>

namespace troupe::dnn::detail {

value spread_over(const value& gradient, const value& tensor) {
  const auto is = gradient.extents(), expected = tensor.extents();
  if (std::equal(is.begin(), is.end(), expected.begin(), expected.end())) return gradient;
  return select(tensor, gradient, gradient);  // broadcasts: both choices are the gradient
}

namespace {

bool is_half(dtype t) noexcept { return t == dtype::f16 || t == dtype::bf16; }

// Converts a gradient to the type of the factor that it is multiplied with.
value as_factor(const value& gradient, const value& other) {
  if (gradient.type() == other.type()) return gradient;
  if (!is_half(other.type()) && other.type() != dtype::f32 && other.type() != dtype::f64)
    return no_gradient(cat("a product of ", to_string(other.type())));
  return convert(gradient, other.type());
}

// Sums a gradient of a tensor with extents `from` along the axes along which `to` has the extent 1.
value summed(value gradient, std::span<const std::int64_t> from, std::span<const std::int64_t> to) {
  double repetitions = 1;
  std::vector<std::size_t> over;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (to[i] == from[i]) continue;
    if (gradient.rank() == 0 || gradient.extents()[i] == 1)
      repetitions *= static_cast<double>(from[i]);
    else
      over.push_back(i);
  }
  if (!over.empty()) gradient = reduce(gradient, reduction_kind::sum, over);
  return times(gradient, repetitions);
}

class node_differentiation {
 public:
  explicit node_differentiation(const differentiated_node& p)
      : p_(p), node_(p.of.from()), gradients_(node_.inputs.size()) {}
  std::vector<optional_gradient> gradients_of_inputs() {
    differentiate();
    return std::move(gradients_);
  }

 private:
  const value& in(std::size_t i) const { return node_.inputs[i]; }
  value out(std::size_t i) const { return p_.of.sibling(static_cast<std::uint8_t>(i)); }
  bool is_needed(std::size_t i) const { return p_.is_needed[i]; }
  template <class F>
  void set(std::size_t i, F&& gradient) {
    if (is_needed(i)) gradients_[i] = gradient();
  }
  // Returns the gradient of an output, with all of its extents.
  value dy(std::size_t i = 0) const { return spread_over(*p_.gradients[i], out(i)); }
  // Requires that only the first output has a gradient; refuses the gradients of all inputs otherwise.
  bool only_first_has_gradient() {
    const bool only =
        p_.gradients[0] && std::none_of(p_.gradients.begin() + 1, p_.gradients.end(), [](auto& g) { return !!g; });
    if (!only) refuse(cat("statistics of ", to_string(node_.what)));
    return only;
  }
  void refuse(std::string_view through) {
    for (std::size_t i = 0; i < gradients_.size(); ++i) set(i, [&] { return no_gradient(through); });
  }
  // Makes a node, and returns its outputs, which have the extents of the values `like`.
  std::vector<value> made(op what, std::vector<value> inputs, const node_attributes& numbers,
                          std::initializer_list<const value*> like) const {
    const dtype type = std::any_of(inputs.begin(), inputs.end(), [](const value& v) { return v.type() == dtype::f64; })
                           ? dtype::f64
                           : dtype::f32;
    node_maker m(what, to_string(what), std::move(inputs));
    m.with(numbers);
    for (const value* v : like) m.add_output(type, v->extents());
    return m.all(like.size());
  }
  value made(op what, std::vector<value> inputs, const value& like) const {
    return made(what, std::move(inputs), node_.attributes, {&like})[0];
  }

  void differentiate();
  void differentiate_elements();
  void differentiate_convolution();
  void differentiate_product();
  void differentiate_reduction();
  void differentiate_normalization();
  void differentiate_attention();
  void differentiate_recurrence();
  void differentiate_moves();
  value padded_slice(std::int64_t axis, std::int64_t first) const;

  const differentiated_node& p_;
  const producer& node_;
  std::vector<optional_gradient> gradients_;
};

void node_differentiation::differentiate() {
  const auto only = [this](op gradient, bool reads_x) {
    set(0, [&] { return made(gradient, reads_x ? std::vector{dy(), in(0)} : std::vector{dy()}, in(0)); });
  };
  switch (node_.what) {
    case op::pointwise:
    case op::convert:
      return differentiate_elements();
    case op::convolution:
    case op::convolution_data_gradient:
    case op::convolution_weight_gradient:
      return differentiate_convolution();
    case op::product:
      return differentiate_product();
    case op::reduction:
      return differentiate_reduction();
    case op::normalization:
      return differentiate_normalization();
    case op::softmax:
      return set(0, [&] { return made(op::softmax_gradient, {dy(), out(0)}, in(0)); });
    case op::attention:
      return differentiate_attention();
    case op::recurrence:
      return differentiate_recurrence();
    case op::reshape:
    case op::transposition:
    case op::concatenation:
    case op::slice:
      return differentiate_moves();
    case op::pooling:
      return only(op::pooling_gradient, node_.attributes.as<pooling_attributes>().kind == pooling_kind::maximum);
    case op::pooling_with_indexes:
      return set(0, [&] { return made(op::pooling_index_gradient, {dy(), out(1)}, in(0)); });
    case op::local_response_norm:
      return only(op::local_response_norm_gradient, true);
    case op::resampling:
      return only(op::resampling_gradient, false);
    case op::ctc_loss:
      return set(0, [&] { return made(op::ctc_loss_gradient, {dy(), in(0), in(1), in(2), in(3)}, in(0)); });
    default:
      return refuse(to_string(node_.what));
  }
}

void node_differentiation::differentiate_elements() {
  const value& gradient = *p_.gradients[0];
  if (node_.what == op::convert) {
    if (const dtype to = out(0).type(); to >= dtype::i8) return refuse(cat("a conversion to ", to_string(to)));
    return set(0, [&] { return gradient; });
  }
  const epilogue::op function = node_.attributes.as<pointwise_attributes>().function;
  for (std::size_t i = 0; i < node_.inputs.size(); ++i) {
    if (!is_needed(i)) continue;
    optional_gradient through;
    if (function == epilogue::op::select) {
      // The operand that is not selected has no effect, even if its gradient is infinite.
      if (i == 1) through = select(in(0), gradient, 0);
      if (i == 2) through = select(in(0), 0, gradient);
    } else if (const auto factor = derivative(function, node_.inputs, out(0), i)) {
      through = times(gradient, *factor);
    }
    if (through) gradients_[i] = summed(*through, out(0).extents(), in(i).extents());
  }
}

// y, dx and dw are each linear in both factors, so that their derivatives are convolutions too.
void node_differentiation::differentiate_convolution() {
  const value& a = in(0);
  const value& b = in(1);
  switch (node_.what) {
    case op::convolution:
      set(0, [&] { return made(op::convolution_data_gradient, {as_factor(dy(), b), b}, a); });
      return set(1, [&] { return made(op::convolution_weight_gradient, {as_factor(dy(), a), a}, b); });
    case op::convolution_data_gradient:
      set(0, [&] { return made(op::convolution, {as_factor(dy(), b), b}, a); });
      return set(1, [&] { return made(op::convolution_weight_gradient, {a, as_factor(dy(), a)}, b); });
    default:
      set(0, [&] { return made(op::convolution, {b, as_factor(dy(), b)}, a); });
      return set(1, [&] { return made(op::convolution_data_gradient, {a, as_factor(dy(), a)}, b); });
  }
}

void node_differentiation::differentiate_product() {
  const auto transposed = [](const value& v) {
    std::vector<std::size_t> order(v.rank());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::swap(order[v.rank() - 2], order[v.rank() - 1]);
    return transpose(v, order);
  };
  const auto summed_over_batch = [](const value& gradient, const value& of) {
    return summed(gradient, gradient.extents(), of.extents());
  };
  set(0, [&] { return summed_over_batch(product(as_factor(dy(), in(1)), transposed(in(1))), in(0)); });
  set(1, [&] { return summed_over_batch(product(transposed(in(0)), as_factor(dy(), in(0))), in(1)); });
}

void node_differentiation::differentiate_reduction() {
  const value &x = in(0), y = out(0), &gradient = *p_.gradients[0];
  const auto of_largest = [&](const value& compared) {
    std::vector<std::size_t> over;
    for (std::size_t i = 0; i < x.rank(); ++i)
      if (y.extents()[i] != x.extents()[i]) over.push_back(i);
    const value is = equal(compared, y);  // the gradient is divided among equal elements
    return over.empty() ? gradient : times(gradient, is / reduce(is, reduction_kind::sum, over));
  };
  double count = 1;
  for (std::size_t i = 0; i < x.rank(); ++i)
    count *= static_cast<double>(x.extents()[i]) / static_cast<double>(y.extents()[i]);
  set(0, [&] {
    switch (node_.attributes.as<reduction_attributes>().kind) {
      case reduction_kind::sum:
        return gradient;
      case reduction_kind::mean:
        return times(gradient, 1 / count);
      case reduction_kind::maximum:
      case reduction_kind::minimum:
        return of_largest(x);
      case reduction_kind::absolute_maximum:
        return times(of_largest(abs(x)), sign(x));
      case reduction_kind::norm1:
        return times(gradient, sign(x));
      case reduction_kind::norm2:
        return times(gradient, select(y, x / y, 0));
      default:
        return no_gradient("a reduction to a product");
    }
  });
}

void node_differentiation::differentiate_normalization() {
  if (!only_first_has_gradient()) return;
  const auto f = node_.attributes.as<normalization_attributes>();
  const normalization_places at(f);
  const std::optional<value> scale = at.scale != absent ? std::optional(in(at.scale)) : std::nullopt;
  const normalized of{out(at.y), out(at.mean), out(at.deviation)};
  const normalization_gradients g =
      f.rms != 0 ? rms_norm_gradient(dy(), in(at.x), of, scale) : normalization_gradient(dy(), in(at.x), of, scale);
  set(at.x, [&] { return g.dx; });
  if (at.scale != absent) set(at.scale, [&] { return g.dscale; });
  if (at.offset != absent) set(at.offset, [&] { return g.doffset; });
}

void node_differentiation::differentiate_attention() {
  if (!only_first_has_gradient()) return;
  const auto f = node_.attributes.as<attention_attributes>();
  if (f.has_pages != 0) return refuse("attention with pages");
  // cuDNN computes the gradient if y, dy and the results are rounded to the half type of the inputs.
  const dtype type = in(0).type();
  const bool is_rounded = is_half(type) && p_.rounded && p_.rounded->type() == type;
  const auto as_input_type = [&](const value& v) { return is_rounded ? convert(v, type) : v; };
  std::vector<value> inputs{as_input_type(dy()), is_rounded ? *p_.rounded : out(0), out(1)};
  inputs.insert(inputs.end(), node_.inputs.begin(), node_.inputs.end());
  const auto all = f.has_bias != 0
                       ? made(op::attention_gradient, inputs, node_.attributes, {&in(0), &in(1), &in(2), &in(3)})
                       : made(op::attention_gradient, inputs, node_.attributes, {&in(0), &in(1), &in(2)});
  for (std::size_t i = 0; i < 3; ++i) set(i, [&] { return as_input_type(all[i]); });
  if (f.has_bias != 0) set(3, [&] { return all[3]; });
}

void node_differentiation::differentiate_recurrence() {
  const auto f = node_.attributes.as<recurrence_attributes>();
  const recurrence_places at(f);
  if (p_.gradients[at.reserve]) return refuse("the reserve of a recurrence");
  const auto input = [&](std::size_t place) { return place != absent ? std::optional(in(place)) : std::nullopt; };
  const auto gradient = [&](std::size_t place) {
    return place != absent && p_.gradients[place] ? std::optional(dy(place)) : std::nullopt;
  };
  recurrent_weights w{.input = in(1), .recurrent = in(2), .projection = input(at.projection)};
  if (f.has_biases != 0) w.biases = {in(at.input_bias), in(at.recurrent_bias)};
  recurrence_options o{.cell = f.cell, .reversed = f.reversed != 0, .lengths = input(at.lengths)};
  if (f.has_state != 0) o.initial = {in(at.h), input(at.c)};
  const recurrence_gradients g =
      recurrence_gradient({gradient(0), gradient(at.last_h), gradient(at.last_c)}, in(0), w, out(at.reserve), o);
  const std::pair<std::size_t, const value*> all[] = {{0, &g.dx},
                                                      {1, &g.dinput},
                                                      {2, &g.drecurrent},
                                                      {at.input_bias, &g.dinput_bias},
                                                      {at.recurrent_bias, &g.drecurrent_bias},
                                                      {at.projection, &g.dprojection},
                                                      {at.h, &g.dh},
                                                      {at.c, &g.dc}};
  for (const auto& [place, result] : all)
    if (place != absent) set(place, [of = result] { return *of; });
}

void node_differentiation::differentiate_moves() {
  if (p_.gradients[0]->rank() == 0 && node_.what != op::slice) {
    for (std::size_t i = 0; i < node_.inputs.size(); ++i) set(i, [&] { return *p_.gradients[0]; });
    return;
  }
  switch (node_.what) {
    case op::reshape:
      return set(0, [&] { return reshape(dy(), in(0).extents()); });
    case op::transposition: {
      const auto f = node_.attributes.as<transposition_attributes>();
      std::vector<std::size_t> to(in(0).rank());
      for (std::size_t i = 0; i < to.size(); ++i) to[static_cast<std::size_t>(f.from[i])] = i;
      return set(0, [&] { return transpose(*p_.gradients[0], to); });
    }
    case op::slice: {
      const auto f = node_.attributes.as<slice_attributes>();
      for (std::size_t i = 0; i < in(0).rank(); ++i)
        if (out(0).extents()[i] != in(0).extents()[i])
          return set(0, [&] { return padded_slice(static_cast<std::int64_t>(i), f.first[i]); });
      return set(0, [&] { return *p_.gradients[0]; });
    }
    default:
      std::int64_t first = 0;
      const auto along = static_cast<std::size_t>(node_.attributes.as<concatenation_attributes>().along);
      for (std::size_t i = 0; i < node_.inputs.size(); ++i) {
        const std::int64_t count = in(i).extents()[along];
        set(i, [&] { return slice(dy(), along, first, count); });
        first += count;
      }
  }
}

// Returns the gradient of the tensor that a slice was taken from: 0 before and after the slice.
value node_differentiation::padded_slice(std::int64_t axis, std::int64_t first) const {
  const auto along = static_cast<std::size_t>(axis);
  const std::int64_t count = out(0).extents()[along], end = first + count, all = in(0).extents()[along];
  const dtype type = dy().type();
  const auto zeros = [&](std::int64_t from, std::int64_t until) {
    const value none = select(slice(in(0), along, from, until - from), 0, 0);
    return none.type() == type ? none : convert(none, type);
  };
  std::vector<value> parts;
  if (first > 0) parts.push_back(zeros(0, first));
  parts.push_back(dy());
  if (end < all) parts.push_back(zeros(end, all));
  return concatenate(parts, along);
}

}  // namespace

std::vector<optional_gradient> gradients_of_inputs(const differentiated_node& p) {
  return node_differentiation(p).gradients_of_inputs();
}

}  // namespace troupe::dnn::detail

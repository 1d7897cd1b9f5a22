// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/gradients/node_differentiation.hpp>
#include <troupe/dnn/operations/convolution/attributes.hpp>
#include <troupe/dnn/operations/convolution/convolution.hpp>
#include <troupe/dnn/operations/operation_table.hpp>
#include <troupe/dnn/operations/pointwise/pointwise.hpp>
#include <troupe/dnn/requests/request_builder.hpp>
#include <troupe/windows/check.hpp>

namespace troupe::dnn {
namespace {

using detail::node_maker;
using extents = std::span<const std::int64_t>;

extent count(extents e) noexcept {
  extent n = 1;
  for (const std::int64_t i : e) n = n * extent(i);
  return n;
}

// Returns the most products that are summed for one element of the result with these factors.
extent summands_of(computed_tensor what, const value& first, const value& second) noexcept {
  switch (what) {
    case computed_tensor::y:
      return count(second.extents().subspan(1));
    case computed_tensor::dx:
      return count(second.extents()) / second.extents()[1];
    case computed_tensor::dfilters:
      return count(first.extents()) / first.extents()[1];
  }
  return 0;
}

// Returns the name of a node's tensor or option, for refusals.
std::string_view name_of(windows::convolution_field f, const convolution_roles<std::string_view>& tensors) noexcept {
  using enum windows::convolution_field;
  switch (f) {
    case image:
      return tensors.image;
    case filters:
      return tensors.filters;
    case result:
      return tensors.result;
    case padding:
      return "padding";
    case padding_after:
      return "padding_after";
    case stride:
      return "stride";
    case dilation:
      return "dilation";
    case groups:
      return "groups";
  }
  return {};
}

bool is_accepted(node_maker& m, std::optional<windows::convolution_refusal> refused,
                 const convolution_roles<std::string_view>& tensors) {
  if (refused) m.refuse(name_of(refused->field, tensors), refused->is, std::move(refused->expected));
  return m.fine();
}

// Makes a convolution or one of its gradients. `computed` are the extents of a gradient; the extents of a convolution
// follow from its factors.
value make(node_maker m, const value& first, const value& second, extents computed, const convolution_options& o,
           computed_tensor what) {
  // A refusal names the wrong tensor by `fields`, in which the computed one is "result": request_builder replaces that
  // by a field of the request. It mentions other tensors by `names`.
  constexpr convolution_roles<std::string_view> names{"x", "filters", "dy"};
  const auto fields = convolution_roles<std::string_view>::of(what, names.first(what), names.second(what), "result");
  auto [refused, of_y] = windows::check_convolution(
      what, convolution_roles<extents>::of(what, first.extents(), second.extents(), computed), names, o);
  if (!is_accepted(m, std::move(refused), fields)) return m.done();
  if (!detail::are_factors(first.type(), second.type()))
    m.refuse(fields.second(what), cat("holds ", to_string(second.type())),
             cat(to_string(first.type()), ", as the other factor does; convert one of them"));
  const std::size_t rank = first.rank();
  m.with(convolution_attributes{windows::slides_of(o, rank - windows::first_spatial), o.groups});
  m.add_sum_output(detail::type_of_sums(first, second),
                   what == computed_tensor::y ? extents(of_y.data(), rank) : computed,
                   summands_of(what, first, second));
  return m.done();
}

using windows::options_of;

template <access_mode M>
std::span<const std::int64_t> extents_of(const any_operand<M>& o) noexcept {
  return {o.shape().extents.data(), o.shape().rank};
}

}  // namespace

value convolution(const value& x, const value& filters, const convolution_options& o) {
  return make(node_maker(op::convolution, "convolution", {x, filters}), x, filters, {}, o, computed_tensor::y);
}

value convolution_data_gradient(const value& dy, const value& filters, std::span<const std::int64_t> of_x,
                                const convolution_options& o) {
  return make(node_maker(op::convolution_data_gradient, "convolution_data_gradient", {dy, filters}), dy, filters, of_x,
              o, computed_tensor::dx);
}

value convolution_weight_gradient(const value& dy, const value& x, std::span<const std::int64_t> of_filters,
                                  const convolution_options& o) {
  return make(node_maker(op::convolution_weight_gradient, "convolution_weight_gradient", {dy, x}), dy, x, of_filters, o,
              computed_tensor::dfilters);
}

value transposed_convolution(const value& x, const value& filters, const convolution_options& o, per_axis more) {
  node_maker m(op::convolution_data_gradient, "transposed_convolution", {x, filters});
  const std::size_t rank = x.rank(), spatial = rank - windows::first_spatial;
  if (!m.has_rank("x", x, 3, 2 + most_spatial) || !m.has_rank("filters", filters, rank, rank) ||
      !is_accepted(m, windows::check_options(o, spatial), {}) || !m.has_numbers("more", more, spatial, 0))
    return m.done();
  const windows::slides s = windows::slides_of(o, spatial);
  std::array<std::int64_t, tensor_shape::max_rank> y{x.extents()[0], filters.extents()[1] * o.groups};
  for (std::size_t i = 0; i < spatial && m.fine(); ++i) {
    y[i + 2] = (x.extents()[i + 2] - 1) * s[i].stride + s[i].dilation * (filters.extents()[i + 2] - 1) + 1 -
               s[i].padding_before - s[i].padding_after + more[i];
    if (more[i] >= s[i].stride) m.refuse("more", cat("is ", more[i]), cat("less than stride, ", s[i].stride));
    if (y[i + 2] < 1) m.refuse("padding", "leaves a result without elements", "less padding");
  }
  if (!m.fine()) return m.done();
  return make(std::move(m), x, filters, {y.data(), rank}, o, computed_tensor::dx);
}

computation conv_forward::to_request() const {
  detail::request_builder builder;
  const value image = builder.read("x", x), all_filters = builder.read("filters", filters);
  const value convolved = convolution(image, all_filters, options_of(*this));
  value sum = alpha == 1 ? convolved : alpha * convolved;
  if (residual && beta == 0) builder.refuse("residual", "is given", "none, as its factor beta is 0");
  if (builder.fine() && convolved.why_refused().empty()) {
    const auto same = detail::expected_extents::of(convolved);
    if (residual) sum = sum + beta * builder.read("residual", *residual, same);
    if (!residual && beta != 0) sum = sum + beta * builder.read("y", y, same);
    if (bias) sum = sum + builder.read("bias", *bias, detail::of_channels(convolved, convolved.extents()[1]));
  }
  builder.write("y", activate(sum, activation), y);
  return builder.done(options);
}

computation conv_data_backward::to_request() const {
  detail::request_builder builder({{"result", "dx"}});
  const value gradient = convolution_data_gradient(builder.read("dy", dy), builder.read("filters", filters),
                                                   extents_of(dx), options_of(*this));
  builder.write("dx", gradient, alpha, beta, dx);
  return builder.done(options);
}

computation conv_weight_backward::to_request() const {
  detail::request_builder builder({{"result", "dfilters"}, {"filters", "dfilters"}});
  const value gradient = convolution_weight_gradient(builder.read("dy", dy), builder.read("x", x), extents_of(dfilters),
                                                     options_of(*this));
  builder.write("dfilters", gradient, alpha, beta, dfilters);
  return builder.done(options);
}

}  // namespace troupe::dnn

namespace troupe::dnn::detail {

// y, dx and dfilters are each linear in both factors, so that their derivatives are convolutions too.
void differentiate_convolution(node_differentiation& d) {
  const value& a = d.in(0);
  const value& b = d.in(1);
  switch (d.node().what) {
    case op::convolution:
      d.set(0, [&] { return d.made(op::convolution_data_gradient, {as_factor(d.dy(), b), b}, a); });
      return d.set(1, [&] { return d.made(op::convolution_weight_gradient, {as_factor(d.dy(), a), a}, b); });
    case op::convolution_data_gradient:
      d.set(0, [&] { return d.made(op::convolution, {as_factor(d.dy(), b), b}, a); });
      return d.set(1, [&] { return d.made(op::convolution_weight_gradient, {a, as_factor(d.dy(), a)}, b); });
    default:
      d.set(0, [&] { return d.made(op::convolution, {b, as_factor(d.dy(), b)}, a); });
      return d.set(1, [&] { return d.made(op::convolution_data_gradient, {a, as_factor(d.dy(), a)}, b); });
  }
}

}  // namespace troupe::dnn::detail

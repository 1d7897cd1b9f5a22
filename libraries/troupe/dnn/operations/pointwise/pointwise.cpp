// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/gradients/node_differentiation.hpp>
#include <troupe/dnn/graph/node_maker.hpp>
#include <troupe/dnn/operations/operation_table.hpp>
#include <troupe/dnn/operations/pointwise/attributes.hpp>
#include <troupe/dnn/operations/pointwise/pointwise.hpp>
#include <troupe/dnn/operations/reductions/reductions.hpp>
#include <troupe/dnn/requests/request_builder.hpp>

namespace troupe::dnn {
namespace {

using detail::node_maker;

value make(epilogue::op function, std::vector<value> inputs) {
  node_maker m(op::pointwise, epilogue::to_string(function), inputs);
  if (!epilogue::is_function(function) || epilogue::info(function).arguments != inputs.size())
    m.refuse("function", cat("is not one of ", inputs.size(), " tensors"), "a function of epilogues");
  std::size_t rank = 0;
  for (const value& v : inputs) rank = std::max(rank, v.rank());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].rank() != 0 && inputs[i].rank() != rank)
      m.refuse(cat("argument ", i), cat("has ", detail::axes_text(inputs[i].rank())),
               cat(rank, ", as another argument has"));
  std::array<std::int64_t, tensor_shape::max_rank> extents{};
  std::fill_n(extents.begin(), rank, 1);
  for (const value& v : inputs)
    for (std::size_t i = 0; i < v.rank() && m.fine(); ++i)
      extents[i] = extents[i] == 0 || v.extents()[i] == 0 ? 0 : std::max(extents[i], v.extents()[i]);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].rank() != 0 && !detail::broadcasts(inputs[i].extents(), std::span(extents.data(), rank)))
      m.refuse_extents(cat("argument ", i), inputs[i],
                       cat(node_maker::text_of(std::span(extents.data(), rank)), ", where each extent may be 1"));
  m.with(pointwise_attributes{.function = function, .unused = {}});
  dtype type = dtype::f32;
  for (const value& v : inputs)
    if (v.rank() != 0 && v.type() == dtype::f64) type = dtype::f64;
  // An operation on numbers alone has one result, without axes.
  m.add_output(type, std::span<const std::int64_t>(extents.data(), rank));
  return m.done();
}

}  // namespace

value pointwise(epilogue::op function, const value& x) { return make(function, {x}); }
value pointwise(epilogue::op function, const value& x, const value& y) { return make(function, {x, y}); }
value pointwise(epilogue::op function, const value& x, const value& y, const value& z) {
  return make(function, {x, y, z});
}

value convert(const value& x, dtype to) {
  // The elements of a narrow tensor have its type already. Those of an f32 tensor may be computed in f64.
  if (x.rank() != 0 && x.type() == to && bytes_of(to) < bytes_of(dtype::f32)) return x;
  node_maker m(op::convert, "conversion", {x});
  if (!detail::is_element(to)) m.refuse("type", cat("is ", to_string(to)), std::string(detail::elements));
  m.add_output(to, x.extents());
  return m.done();
}

computation transform::to_request() const {
  detail::request_builder builder;
  builder.write("y", builder.read("x", x), alpha, beta, y);
  return builder.done(options);
}

}  // namespace troupe::dnn

namespace troupe::dnn::detail {

void differentiate_conversion(node_differentiation& d) {
  if (const dtype to = d.out(0).type(); to >= dtype::i8) return d.refuse(cat("a conversion to ", to_string(to)));
  d.set(0, [&] { return d.gradient(); });
}

void differentiate_pointwise(node_differentiation& d) {
  const value& gradient = d.gradient();
  const epilogue::op function = d.attributes<pointwise_attributes>().function;
  // A rounded relu has the derivative that relu has, and is kept for other gradients.
  const bool is_kept = function == epilogue::op::relu && d.rounded() && is_half(d.rounded()->type());
  const value y = is_kept ? *d.rounded() : d.out(0);
  for (std::size_t i = 0; i < d.node().inputs.size(); ++i) {
    if (!d.is_needed(i)) continue;
    optional_gradient through;
    if (function == epilogue::op::select) {
      // The operand that is not selected has no effect, even if its gradient is infinite.
      if (i == 1) through = select(d.in(0), gradient, 0);
      if (i == 2) through = select(d.in(0), 0, gradient);
    } else if (const auto factor = derivative(function, d.node().inputs, y, i)) {
      through = times(gradient, *factor);
    }
    if (through) d.set(i, [&] { return summed(*through, d.out(0).extents(), d.in(i).extents()); });
  }
}

}  // namespace troupe::dnn::detail

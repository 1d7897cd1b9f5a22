// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <iterator>
#include <optional>
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/graph/node_maker.hpp>
#include <troupe/dnn/operations/pointwise/activation.hpp>
#include <troupe/dnn/operations/pointwise/pointwise.hpp>
#include <troupe/dnn/operations/reductions/reductions.hpp>
#include <troupe/dnn/requests/request_builder.hpp>
#include <troupe/epilogue/op.hpp>

namespace troupe::dnn {
namespace {

using kind = activation_kind;
using fn = epilogue::op;

struct function_pair {
  fn function, derivative;
};
constexpr function_pair table[] = {
    {fn::none, fn::none},
    {fn::relu, fn::d_relu},
    {fn::leaky_relu, fn::d_leaky_relu},
    {fn::elu, fn::d_elu},
    {fn::gelu, fn::d_gelu},
    {fn::gelu_tanh, fn::d_gelu_tanh},
    {fn::silu, fn::d_silu},
    {fn::tanh, fn::d_tanh},
    {fn::sigmoid, fn::d_sigmoid},
    {fn::softplus, fn::d_softplus},
    {fn::hard_swish, fn::d_hard_swish},
};
static_assert(is_known(static_cast<kind>(std::size(table) - 1)) && !is_known(static_cast<kind>(std::size(table))));
constexpr bool has_slope(kind k) noexcept { return k == kind::leaky_relu || k == kind::elu; }

value refused(std::string_view is, std::string expected) {
  detail::node_maker m(op::pointwise, "function", std::vector<value>());
  m.refuse("activation", is, std::move(expected));
  return m.done();
}
// Returns a refused value if the function is unknown, or has no slope but the slope is not 0.
std::optional<value> refusal_of(const activation& a) {
  if (!is_known(a.kind)) return refused(cat("is ", static_cast<int>(a.kind)), one_of<kind>());
  if (!has_slope(a.kind) && a.slope != 0)
    return refused(cat("is ", to_string(a.kind), " with a slope"), "leaky_relu or elu, which have one");
  return std::nullopt;
}

value apply(fn function, const value& x, const activation& a) {
  return has_slope(a.kind) ? pointwise(function, x, a.slope) : pointwise(function, x);
}

// Returns f'(x) computed from y = f(x).
value derivative_from_output(const value& y, const activation& a) {
  switch (a.kind) {
    case kind::relu:
      return d_relu(y);
    case kind::leaky_relu:
      return d_leaky_relu(y, a.slope);
    case kind::elu:
      return select(less(0, y), 1, y + a.slope);
    case kind::tanh:
      return 1 - y * y;
    case kind::sigmoid:
      return y * (1 - y);
    default:  // softplus
      return 1 - exp(-y);
  }
}

}  // namespace

bool can_use_output(const activation& a) noexcept {
  switch (a.kind) {
    case kind::none:
    case kind::relu:
    case kind::tanh:
    case kind::sigmoid:
    case kind::softplus:
      return true;
    case kind::leaky_relu:
    case kind::elu:
      return a.slope > 0;
    default:
      return false;
  }
}

value activate(const value& x, const activation& a) {
  if (auto refusal = refusal_of(a)) return *refusal;
  return a.kind == kind::none ? x : apply(table[static_cast<std::size_t>(a.kind)].function, x, a);
}

value activation_gradient_of_input(const value& dy, const value& x, const activation& a) {
  if (auto refusal = refusal_of(a)) return *refusal;
  return a.kind == kind::none ? dy : dy * apply(table[static_cast<std::size_t>(a.kind)].derivative, x, a);
}

value activation_gradient_of_output(const value& dy, const value& y, const activation& a) {
  if (auto refusal = refusal_of(a)) return *refusal;
  if (!can_use_output(a))
    return refused(cat("is ", to_string(a.kind), has_slope(a.kind) ? " without a slope above 0" : ""),
                   "a function whose derivative follows from y; otherwise give x");
  return a.kind == kind::none ? dy : dy * derivative_from_output(y, a);
}

computation activation_forward::to_request() const {
  detail::request_builder builder;
  builder.write("y", activate(builder.read("x", x), activation), y);
  return builder.done(options);
}

computation activation_backward::to_request() const {
  detail::request_builder builder({{"argument 0", "dy"}, {"argument 1", x ? "x" : "y"}});
  if (x && y) builder.refuse("y", "is given", "none, as x is given");
  if (!x && !y) builder.refuse("x", "is not given", "x or y");
  const value d = builder.read("dy", dy);
  builder.write("dx",
                x   ? activation_gradient_of_input(d, builder.read("x", *x), activation)
                : y ? activation_gradient_of_output(d, builder.read("y", *y), activation)
                    : d,
                dx);
  return builder.done(options);
}

}  // namespace troupe::dnn

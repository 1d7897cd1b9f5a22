// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/gradients/node_differentiation.hpp>
#include <troupe/dnn/graph/node_maker.hpp>
#include <troupe/dnn/operations/operation_table.hpp>
#include <troupe/dnn/operations/response_norm/attributes.hpp>
#include <troupe/dnn/operations/response_norm/response_norm.hpp>
#include <troupe/dnn/requests/request_builder.hpp>

namespace troupe::dnn {
namespace {

using detail::node_maker;

value make(node_maker m, const value& x, dtype type, const response_norm_options& o) {
  constexpr std::int64_t most = 1 << 20;
  if (o.size < 1 || o.size > most) m.refuse("size", cat("is ", o.size), cat("1 to ", most));
  if (!(o.alpha >= 0) || !std::isfinite(o.alpha)) m.refuse("alpha", "is " + std::to_string(o.alpha), "0 or more");
  if (!std::isfinite(o.beta)) m.refuse("beta", "is " + std::to_string(o.beta), "a number");
  if (!(o.k > 0) || !std::isfinite(o.k)) m.refuse("k", "is " + std::to_string(o.k), "more than 0");
  m.with(local_response_norm_attributes{o.size, o.alpha, o.beta, o.k});
  m.add_output(type, x.extents());
  return m.done();
}

template <class R>
response_norm_options options_of(const R& r) noexcept {
  return {.size = r.size, .alpha = r.alpha, .beta = r.beta, .k = r.k};
}

}  // namespace

value local_response_norm(const value& x, const response_norm_options& o) {
  node_maker m(op::local_response_norm, "local_response_norm", {x});
  m.has_rank("x", x, 2, tensor_shape::max_rank);
  return make(std::move(m), x, detail::floating_type({x}), o);
}

value local_response_norm_gradient(const value& dy, const value& x, const response_norm_options& o) {
  node_maker m(op::local_response_norm_gradient, "local_response_norm_gradient", {dy, x});
  if (m.has_rank("x", x, 2, tensor_shape::max_rank) &&
      !std::equal(dy.extents().begin(), dy.extents().end(), x.extents().begin(), x.extents().end()))
    m.refuse_extents("dy", dy, cat(node_maker::text_of(x.extents()), ", as x has"));
  return make(std::move(m), x, detail::floating_type({dy, x}), o);
}

computation lrn_forward::to_request() const {
  detail::request_builder builder;
  builder.write("y", local_response_norm(builder.read("x", x), options_of(*this)), y);
  return builder.done(options);
}

computation lrn_backward::to_request() const {
  detail::request_builder builder;
  const value d = builder.read("dy", dy), of = builder.read("x", x);
  builder.write("dx", local_response_norm_gradient(d, of, options_of(*this)), dx);
  return builder.done(options);
}

}  // namespace troupe::dnn

namespace troupe::dnn::detail {

void differentiate_local_response_norm(node_differentiation& d) {
  d.set(0, [&] { return d.made(op::local_response_norm_gradient, {d.dy(), d.in(0)}, d.in(0)); });
}

}  // namespace troupe::dnn::detail

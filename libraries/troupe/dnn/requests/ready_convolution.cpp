// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/dnn/operations/pointwise/pointwise.hpp>
#include <troupe/dnn/requests/ready_convolution.hpp>
#include <troupe/dnn/requests/request_builder.hpp>
#include <troupe/windows/check.hpp>

namespace troupe::dnn {
namespace {

using windows::options_of;

template <access_mode M>
std::span<const std::int64_t> extents_of(const any_operand<M>& o) noexcept {
  return {o.shape().extents.data(), o.shape().rank};
}

}  // namespace

computation conv_forward::sent() const {
  detail::request_builder f;
  const value image = f.read("x", x), all_filters = f.read("filters", filters);
  const value product = convolution(image, all_filters, options_of(*this));
  value sum = alpha == 1 ? product : alpha * product;
  if (residual && beta == 0) f.refuse("residual", "is given", "none, as its factor beta is 0");
  if (f.fine() && product.why_refused().empty()) {
    const auto same = detail::expected_extents::of(product);
    if (residual) sum = sum + beta * f.read("residual", *residual, same);
    if (!residual && beta != 0) sum = sum + beta * f.read("y", y, same);
    if (bias) sum = sum + f.read("bias", *bias, detail::of_channels(product, product.extents()[1]));
  }
  f.write("y", activate(sum, activation), y);
  return f.done(options);
}

computation conv_data_backward::sent() const {
  detail::request_builder f({{"result", "dx"}});
  const value gradient =
      convolution_data_gradient(f.read("dy", dy), f.read("filters", filters), extents_of(dx), options_of(*this));
  f.write("dx", gradient, alpha, beta, dx);
  return f.done(options);
}

computation conv_weight_backward::sent() const {
  detail::request_builder f({{"result", "dfilters"}, {"filters", "dfilters"}});
  const value gradient =
      convolution_weight_gradient(f.read("dy", dy), f.read("x", x), extents_of(dfilters), options_of(*this));
  f.write("dfilters", gradient, alpha, beta, dfilters);
  return f.done(options);
}

}  // namespace troupe::dnn

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/graph/node_maker.hpp>
#include <troupe/dnn/operations/normalization/normalization.hpp>
#include <troupe/dnn/operations/normalization/requests.hpp>
#include <troupe/dnn/operations/pointwise/pointwise.hpp>
#include <troupe/dnn/requests/request_builder.hpp>

namespace troupe::dnn {
namespace {

using detail::of_channels, detail::request_builder, detail::expected_extents;

// The extents that scale, offset and statistics of a normalization must have.
struct parameter_extents {
  expected_extents affine, statistics;
};
parameter_extents of_last(request_builder& builder, const value& x, std::size_t count) {
  if (count < 1 || count > x.rank()) builder.refuse("count", cat("is ", count), cat("1 to ", x.rank()));
  parameter_extents out{{.rank = x.rank()}, {.rank = x.rank()}};
  for (std::size_t i = 0; i < x.rank(); ++i) {
    const bool is_over = i + count >= x.rank();
    out.affine.extents[i] = is_over ? x.extents()[i] : 1;
    out.statistics.extents[i] = is_over ? 1 : x.extents()[i];
  }
  return out;
}
std::int64_t channels_of(const value& x) noexcept { return x.rank() > 1 ? x.extents()[1] : 1; }
// Returns the extents for a normalization of `groups` groups of channels, in each image or over all images.
parameter_extents of_groups(const value& x, std::int64_t groups, bool of_each_image = true) noexcept {
  parameter_extents out{of_channels(x, channels_of(x)), of_channels(x, groups)};
  if (of_each_image && x.rank() > 0) out.statistics.extents[0] = x.extents()[0];
  return out;
}

template <class R>
std::optional<affine> affine_of(request_builder& builder, const R& r, const parameter_extents& part) {
  builder.require_with("offset", r.offset.has_value(), "scale", r.scale.has_value());
  builder.require_with("scale", r.scale.has_value(), "offset", r.offset.has_value());
  const auto scale = builder.read("scale", r.scale, part.affine),
             offset = builder.read("offset", r.offset, part.affine);
  return scale && offset ? std::optional(affine{*scale, *offset}) : std::nullopt;
}

template <class R>
computation finished(request_builder& builder, const R& r, const normalized& n) {
  builder.write("y", n.y, r.y);
  if constexpr (requires { r.mean; }) builder.write("mean", n.mean, r.mean);
  builder.write("inverse_deviation", n.inverse_deviation, r.inverse_deviation);
  return builder.done(r.options);
}

template <class R>
computation backward(request_builder& builder, const R& r, const value& x, const parameter_extents& part) {
  const value dy = builder.read("dy", r.dy),
              deviation = builder.read("inverse_deviation", r.inverse_deviation, part.statistics);
  const std::optional<value> scale = builder.read("scale", r.scale, part.affine);
  builder.require_with("scale", scale.has_value(), "dscale", r.dscale.has_value());
  if constexpr (requires { r.doffset; }) {
    builder.require_with("scale", scale.has_value(), "doffset", r.doffset.has_value());
    const value mean = builder.read("mean", r.mean, part.statistics);
    const auto all = normalization_gradient(dy, x, {x, mean, deviation}, scale);
    builder.write("dx", all.dx, r.dx);
    builder.write("dscale", all.dscale, r.dscale);
    builder.write("doffset", all.doffset, r.doffset);
  } else {
    const value zero = less(deviation, deviation);
    const auto all = rms_norm_gradient(dy, x, {x, zero, deviation}, scale);
    builder.write("dx", all.dx, r.dx);
    builder.write("dscale", all.dscale, r.dscale);
  }
  return builder.done(r.options);
}

}  // namespace

computation layer_norm_forward::to_request() const {
  request_builder builder;
  const value from = builder.read("x", x);
  return finished(builder, *this,
                  layer_norm(from, count, epsilon, affine_of(builder, *this, of_last(builder, from, count))));
}
computation layer_norm_backward::to_request() const {
  request_builder builder;
  const value from = builder.read("x", x);
  return backward(builder, *this, from, of_last(builder, from, count));
}

computation rms_norm_forward::to_request() const {
  request_builder builder;
  const value from = builder.read("x", x);
  return finished(builder, *this,
                  rms_norm(from, count, epsilon, builder.read("scale", scale, of_last(builder, from, count).affine)));
}
computation rms_norm_backward::to_request() const {
  request_builder builder;
  const value from = builder.read("x", x);
  return backward(builder, *this, from, of_last(builder, from, count));
}

computation group_norm_forward::to_request() const {
  request_builder builder;
  const value from = builder.read("x", x);
  return finished(builder, *this,
                  group_norm(from, groups, epsilon, affine_of(builder, *this, of_groups(from, groups))));
}
computation group_norm_backward::to_request() const {
  request_builder builder;
  const value from = builder.read("x", x);
  if (groups < 1 || channels_of(from) % groups != 0)
    builder.refuse("groups", cat("is ", groups), "a divisor of the channels");
  return backward(builder, *this, from, of_groups(from, groups));
}

computation instance_norm_forward::to_request() const {
  request_builder builder;
  const value from = builder.read("x", x);
  return finished(builder, *this,
                  instance_norm(from, epsilon, affine_of(builder, *this, of_groups(from, channels_of(from)))));
}
computation instance_norm_backward::to_request() const {
  request_builder builder;
  const value from = builder.read("x", x);
  return backward(builder, *this, from, of_groups(from, channels_of(from)));
}

computation batch_norm_training::to_request() const {
  request_builder builder;
  const value from = builder.read("x", x);
  const parameter_extents part = of_groups(from, channels_of(from), false);
  const auto a = affine_of(builder, *this, part);
  builder.require_with("running_variance", running_variance.has_value(), "running_mean", running_mean.has_value());
  builder.require_with("running_mean", running_mean.has_value(), "running_variance", running_variance.has_value());
  const auto mean_before = builder.read("running_mean", running_mean, part.statistics),
             variance_before = builder.read("running_variance", running_variance, part.statistics);
  std::optional<running_averages> running;
  if (mean_before && variance_before) running = running_averages{*mean_before, *variance_before, momentum};
  const batch_normalized n = batch_norm(from, epsilon, a, running);
  builder.write("running_mean", n.next_mean, running_mean);
  builder.write("running_variance", n.next_variance, running_variance);
  return finished(builder, *this, n);
}

computation batch_norm_inference::to_request() const {
  request_builder builder;
  const value from = builder.read("x", x);
  if (from.rank() < 2) builder.refuse("x", cat("has ", detail::axes_text(from.rank())), "2 to 8");
  const parameter_extents part = of_groups(from, channels_of(from), false);
  const auto a = affine_of(builder, *this, part);
  const value m = builder.read("mean", mean, part.statistics), v = builder.read("variance", variance, part.statistics);
  builder.write("y", activate(normalize_with(from, m, v, epsilon, a), activation), y);
  return builder.done(options);
}

computation batch_norm_backward::to_request() const {
  request_builder builder;
  const value from = builder.read("x", x);
  return backward(builder, *this, from, of_groups(from, channels_of(from), false));
}

}  // namespace troupe::dnn

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/gradients/node_differentiation.hpp>
#include <troupe/dnn/graph/node_maker.hpp>
#include <troupe/dnn/operations/operation_table.hpp>
#include <troupe/dnn/operations/resampling/attributes.hpp>
#include <troupe/dnn/operations/resampling/resampling.hpp>
#include <troupe/dnn/operations/response_norm/response_norm.hpp>
#include <troupe/dnn/requests/request_builder.hpp>
#include <troupe/windows/geometry.hpp>
#include <vector>

namespace troupe::dnn {
namespace {

using detail::node_maker;
using extents = std::array<std::int64_t, tensor_shape::max_rank>;

// The longest extent for which the products of two extents and small factors in sampling_axis fit 64 bits.
constexpr std::int64_t longest = std::int64_t{1} << 28;

std::int64_t taps_of(resampling_kind k) noexcept {
  return k == resampling_kind::nearest ? 1 : k == resampling_kind::linear ? 2 : 4;
}

value make(op what, std::string_view name, std::string_view input, std::string_view result, const value& from,
           std::span<const std::int64_t> to, const resampling_options& o) {
  node_maker m(what, name, {from});
  if (!m.has_rank(input, from, 3, 2 + windows::most_spatial)) return m.done();
  const std::size_t spatial = from.rank() - 2;
  if (to.size() != spatial)
    m.refuse(result, cat("has ", detail::axes_text(to.size())), counted(spatial, "spatial axis", "spatial axes"));
  extents e{from.extents()[0], from.extents()[1]};
  for (std::size_t i = 0; m.fine() && i < spatial; ++i) {
    e[2 + i] = to[i];
    if (to[i] < 1 || to[i] > longest) m.refuse(result, cat("is ", to[i]), cat("1 to ", longest));
    if (from.extents()[2 + i] < 1) m.refuse_extents(input, from, "spatial extents of at least 1");
    if (from.extents()[2 + i] > longest) m.refuse_extents(input, from, cat("extents up to ", longest));
  }
  m.require_known("kind", o.kind);
  m.require_known("coordinates", o.coordinates);
  m.require_known("rounding", o.rounding);
  m.with(resampling_attributes{taps_of(o.kind), o.coordinates, o.rounding});
  if (m.fine()) m.add_output(detail::floating_type({from}), std::span<const std::int64_t>(e.data(), from.rank()));
  return m.done();
}

// Returns the spatial extents of the operand. Refuses it, and returns those of `other`, if the ranks differ.
std::span<const std::int64_t> spatial_of(detail::request_builder& builder, std::string_view field, const out_any& o,
                                         std::string_view other_field, const value& other) {
  const std::size_t rank = o.shape().rank;
  if (rank == other.rank() && rank > 2) return {o.shape().extents.data() + 2, rank - 2};
  if (rank != 0 && rank != other.rank())
    builder.refuse(field, cat("has ", detail::axes_text(rank)), cat(other.rank(), ", as ", other_field));
  return other.extents().subspan(std::min<std::size_t>(2, other.rank()));
}

}  // namespace

value resample(const value& x, std::span<const std::int64_t> to, const resampling_options& o) {
  return make(op::resampling, "resampling", "x", "result", x, to, o);
}

value resample_by(const value& x, std::span<const double> factors, const resampling_options& o) {
  std::vector<std::int64_t> to;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const double length = i + 2 < x.rank() ? static_cast<double>(x.extents()[i + 2]) : 1;
    if (!(factors[i] > 0) || factors[i] * length > static_cast<double>(longest)) {
      node_maker m(op::resampling, "resampling", {x});
      m.refuse("factor", "is " + std::to_string(factors[i]), cat("more than 0, for extents up to ", longest));
      return m.done();
    }
    to.push_back(static_cast<std::int64_t>(std::floor(factors[i] * length)));
  }
  return resample(x, to, o);
}

value resample_gradient(const value& dy, std::span<const std::int64_t> of_x, const resampling_options& o) {
  return make(op::resampling_gradient, "resampling_gradient", "dy", "extents of x", dy, of_x, o);
}

computation resample_forward::to_request() const {
  detail::request_builder builder({{"result", "y"}});
  const value image = builder.read("x", x);
  builder.write("y", resample(image, spatial_of(builder, "y", y, "x", image), {kind, coordinates, rounding}), y);
  return builder.done(options);
}

computation resample_backward::to_request() const {
  detail::request_builder builder({{"extents of x", "dx"}});
  const value d = builder.read("dy", dy);
  builder.write("dx", resample_gradient(d, spatial_of(builder, "dx", dx, "dy", d), {kind, coordinates, rounding}), dx);
  return builder.done(options);
}

}  // namespace troupe::dnn

namespace troupe::dnn::detail {

void differentiate_resampling(node_differentiation& d) {
  d.set(0, [&] { return d.made(op::resampling_gradient, {d.dy()}, d.in(0)); });
}

}  // namespace troupe::dnn::detail

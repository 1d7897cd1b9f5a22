// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/cat.hpp>
#include <troupe/dnn/graph/node_maker.hpp>
#include <troupe/dnn/operations/response_norm/response_norm.hpp>
#include <troupe/dnn/requests/ready_images.hpp>
#include <troupe/dnn/requests/request_builder.hpp>

namespace troupe::dnn {
namespace {

template <class R>
response_norm_options options_of(const R& r) noexcept {
  return {.size = r.size, .alpha = r.alpha, .beta = r.beta, .k = r.k};
}

// Returns the spatial extents of the operand. Refuses it, and returns those of `other`, if the ranks differ.
std::span<const std::int64_t> spatial_of(detail::request_builder& f, std::string_view field, const out_any& o,
                                         std::string_view other_field, const value& other) {
  const std::size_t rank = o.shape().rank;
  if (rank == other.rank() && rank > 2) return {o.shape().extents.data() + 2, rank - 2};
  if (rank != 0 && rank != other.rank())
    f.refuse(field, cat("has ", detail::axes_text(rank)), cat(other.rank(), ", as ", other_field));
  return other.extents().subspan(std::min<std::size_t>(2, other.rank()));
}

}  // namespace

computation lrn_forward::sent() const {
  detail::request_builder f;
  f.write("y", local_response_norm(f.read("x", x), options_of(*this)), y);
  return f.done(options);
}

computation lrn_backward::sent() const {
  detail::request_builder f;
  const value d = f.read("dy", dy), of = f.read("x", x);
  f.write("dx", local_response_norm_gradient(d, of, options_of(*this)), dx);
  return f.done(options);
}

computation resample_forward::sent() const {
  detail::request_builder f({{"result", "y"}});
  const value image = f.read("x", x);
  f.write("y", resample(image, spatial_of(f, "y", y, "x", image), {kind, aligned_corners}), y);
  return f.done(options);
}

computation resample_backward::sent() const {
  detail::request_builder f({{"extents of x", "dx"}});
  const value d = f.read("dy", dy);
  f.write("dx", resample_gradient(d, spatial_of(f, "dx", dx, "dy", d), {kind, aligned_corners}), dx);
  return f.done(options);
}

}  // namespace troupe::dnn

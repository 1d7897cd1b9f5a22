// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/cat.hpp>
#include <troupe/dnn/graph/node_maker.hpp>
#include <troupe/dnn/operations/pointwise/pointwise.hpp>
#include <troupe/dnn/operations/reductions/reductions.hpp>
#include <troupe/dnn/requests/ready_elements.hpp>
#include <troupe/dnn/requests/request_builder.hpp>

namespace troupe::dnn {
namespace {

template <class R>
pooling_options options_of(const R& r) noexcept {
  return {.padding = r.padding, .padding_after = r.padding_after, .stride = r.stride, .dilation = r.dilation};
}

}  // namespace

computation pool_forward::sent() const {
  detail::request_builder f;
  const value image = f.read("x", x);
  f.write("y",
          kind == pooling_kind::maximum ? max_pool(image, window, options_of(*this))
                                        : mean_pool(image, window, options_of(*this), kind == pooling_kind::mean),
          y);
  return f.done(options);
}

computation pool_backward::sent() const {
  detail::request_builder f({{"result", "dx"}});
  const bool is_maximum = kind == pooling_kind::maximum;
  if (!x && is_maximum) f.refuse("x", "is not given", "the image whose maxima were taken");
  if (x && !is_maximum) f.refuse("x", "is given", "none, for a mean");
  const value d = f.read("dy", dy);
  if (x) {
    f.write("dx", max_pool_gradient(d, f.read("x", *x), window, options_of(*this)), dx);
  } else {
    const std::span<const std::int64_t> of_x(dx.shape().extents.data(), dx.shape().rank);
    f.write("dx", mean_pool_gradient(d, of_x, window, options_of(*this), kind == pooling_kind::mean), dx);
  }
  return f.done(options);
}

computation softmax_forward::sent() const {
  detail::request_builder f({{"axis", "over"}});
  const value from = f.read("x", x);
  f.write("y", logarithmic ? log_softmax(from, over) : softmax(from, over), y);
  return f.done(options);
}

computation softmax_backward::sent() const {
  detail::request_builder f({{"axis", "over"}});
  const value d = f.read("dy", dy), of = f.read("y", y);
  f.write("dx", logarithmic ? log_softmax_gradient(d, of, over) : softmax_gradient(d, of, over), dx);
  return f.done(options);
}

computation activation_forward::sent() const {
  detail::request_builder f;
  f.write("y", activate(f.read("x", x), activation), y);
  return f.done(options);
}

computation activation_backward::sent() const {
  detail::request_builder f({{"argument 0", "dy"}, {"argument 1", x ? "x" : "y"}});
  if (x && y) f.refuse("y", "is given", "none, as x is given");
  if (!x && !y) f.refuse("x", "is not given", "x or y");
  const value d = f.read("dy", dy);
  f.write("dx",
          x   ? activation_gradient_of_input(d, f.read("x", *x), activation)
          : y ? activation_gradient_of_output(d, f.read("y", *y), activation)
              : d,
          dx);
  return f.done(options);
}

computation reduction::sent() const {
  detail::request_builder f;
  const value from = f.read("x", x);
  std::vector<std::size_t> over;
  for (std::size_t i = 0; i < from.rank() && i < y.shape().rank; ++i)
    if (y.shape().extents[i] == 1) over.push_back(i);
  if (y.shape().rank != from.rank())
    f.refuse("y", cat("has ", detail::axes_text(y.shape().rank)), cat(from.rank(), ", as x has"));
  else if (over.empty())
    f.refuse("y", "has no extent of 1", "extent 1 along each axis that is reduced");
  f.write("y", reduce(from, kind, over), alpha, beta, y);
  return f.done(options);
}

computation transform::sent() const {
  detail::request_builder f;
  f.write("y", f.read("x", x), alpha, beta, y);
  return f.done(options);
}

}  // namespace troupe::dnn

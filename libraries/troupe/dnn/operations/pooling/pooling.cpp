// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/gradients/node_differentiation.hpp>
#include <troupe/dnn/graph/node_maker.hpp>
#include <troupe/dnn/operations/operation_table.hpp>
#include <troupe/dnn/operations/pointwise/pointwise.hpp>
#include <troupe/dnn/operations/pooling/attributes.hpp>
#include <troupe/dnn/operations/pooling/pooling.hpp>
#include <troupe/dnn/operations/reductions/reductions.hpp>
#include <troupe/dnn/requests/request_builder.hpp>
#include <troupe/windows/check.hpp>
#include <utility>

namespace troupe::dnn {
namespace {

using detail::node_maker;
using extents = std::array<std::int64_t, tensor_shape::max_rank>;

pooling_attributes attributes_of(node_maker& m, per_axis window, const pooling_options& o, pooling_kind kind,
                                 std::size_t spatial) {
  pooling_attributes a{};
  a.kind = kind;
  std::fill_n(a.extents, most_spatial, 1);
  pooling_options all = o;
  all.stride = o.stride.or_else(window);
  if (!m.has_numbers("window", window, spatial, 1) || !m.has_numbers("padding", o.padding, spatial, 0) ||
      !m.has_numbers("padding_after", o.padding_after.or_else(o.padding), spatial, 0) ||
      !m.has_numbers("stride", all.stride, spatial, 1) || !m.has_numbers("dilation", o.dilation, spatial, 1))
    return a;
  for (std::size_t i = 0; i < spatial; ++i) a.extents[i] = window[i];
  a.slides = windows::slides_of(all, spatial);
  return a;
}

// Returns the sum of floor((a * i + b) / m) over i from 0 to n - 1, by Euclid's algorithm.
std::int64_t sum_of_quotients(std::int64_t n, std::int64_t a, std::int64_t b, std::int64_t m) noexcept {
  for (std::int64_t sum = 0;;) {
    sum += n * (n - 1) / 2 * (a / m) + n * (b / m);
    a %= m, b %= m;
    const std::int64_t end = a * n + b;
    if (end < m) return sum;
    n = end / m, b = end % m;
    std::swap(a, m);
  }
}

// Returns true if each of `count` windows along a spatial axis contains an element of the image.
bool all_reach_image(const pooling_attributes& a, std::size_t i, std::int64_t count, std::int64_t length) noexcept {
  const auto& [padding, after, stride, dilation] = a.slides[i];
  if ((a.extents[i] - 1) * dilation < padding || (count - 1) * stride - padding >= length) return false;
  // A window that begins before the image misses it if its first element with a coordinate of at least 0 has one of at
  // least `length`. Modulo the dilation, these elements are at `first`, `first + stride` and so on.
  const std::int64_t begin_before = std::min(count, (padding + stride - 1) / stride);
  if (dilation <= length || begin_before == 0) return true;
  const std::int64_t first = (dilation - padding % dilation) % dilation, next = stride % dilation;
  return sum_of_quotients(begin_before, next, first + dilation - length, dilation) ==
         sum_of_quotients(begin_before, next, first, dilation);
}

// Sets the extents of the result. Refuses windows that do not fit into the padded image, or that cover no element of
// the image.
void slide(node_maker& m, const pooling_attributes& a, std::span<const std::int64_t> x, extents& y) {
  std::copy(x.begin(), x.end(), y.begin());
  for (std::size_t i = 0; i + 2 < x.size() && m.fine(); ++i) {
    y[i + 2] = windows::positions_along(a.slides[i], x[i + 2], a.extents[i]);
    if (y[i + 2] < 1)
      return m.refuse("window", cat("is ", a.extents[i]),
                      cat("a window that fits into the padded image; x is ", node_maker::text_of(x)));
    if (!all_reach_image(a, i, y[i + 2], x[i + 2]))
      return m.refuse("padding", "leaves a window without an element of the image", "less than the window");
  }
}

value pool(const value& x, per_axis window, const pooling_options& o, pooling_kind kind) {
  node_maker m(op::pooling, kind == pooling_kind::maximum ? "max_pool" : "mean_pool", {x});
  if (!m.has_rank("x", x, 3, 2 + most_spatial)) return m.done();
  const pooling_attributes a = attributes_of(m, window, o, kind, x.rank() - 2);
  extents y{};
  if (m.fine()) slide(m, a, x.extents(), y);
  m.with(a);
  m.add_output(detail::floating_type({x}), std::span<const std::int64_t>(y.data(), x.rank()));
  return m.done();
}

// Refuses images that are so large that indexes of elements do not fit i32.
void check_positions(node_maker& m, std::span<const std::int64_t> x) {
  std::int64_t count = 1;
  for (std::size_t i = 2; i < x.size(); ++i)
    if (m.fine() && (__builtin_mul_overflow(count, x[i], &count) || count > std::int64_t{1} << 31))
      m.refuse("x", "is " + node_maker::text_of(x), "images of at most 2^31 elements, whose indexes fit i32");
}

value pool_gradient(node_maker m, const value& dy, std::span<const std::int64_t> of_x, dtype type, per_axis window,
                    const pooling_options& o, pooling_kind kind) {
  if (of_x.size() != dy.rank())
    m.refuse("result", cat("has ", detail::axes_text(of_x.size())), cat(dy.rank(), ", as dy has"));
  if (std::any_of(of_x.begin(), of_x.end(), [](std::int64_t n) { return n < 0; }))
    m.refuse("result", "is " + node_maker::text_of(of_x), "extents of at least 0");
  if (!m.fine()) return m.done();
  const pooling_attributes a = attributes_of(m, window, o, kind, of_x.size() - 2);
  extents y{};
  if (m.fine()) slide(m, a, of_x, y);
  if (m.fine() && !std::equal(dy.extents().begin(), dy.extents().end(), y.begin()))
    m.refuse_extents("dy", dy,
                     cat(node_maker::text_of(std::span<const std::int64_t>(y.data(), of_x.size())),
                         ", as the pooling's result has"));
  m.with(a);
  m.add_output(type, of_x);
  return m.done();
}

template <class R>
pooling_options options_of(const R& r) noexcept {
  return {.padding = r.padding, .padding_after = r.padding_after, .stride = r.stride, .dilation = r.dilation};
}

}  // namespace

value max_pool(const value& x, per_axis window, const pooling_options& o) {
  return pool(x, window, o, pooling_kind::maximum);
}
value mean_pool(const value& x, per_axis window, const pooling_options& o, bool counts_padding) {
  return pool(x, window, o, counts_padding ? pooling_kind::mean : pooling_kind::mean_of_image);
}

pooled max_pool_with_indexes(const value& x, per_axis window, const pooling_options& o) {
  node_maker m(op::pooling_with_indexes, "max_pool_with_indexes", {x});
  if (m.has_rank("x", x, 3, 2 + most_spatial)) {
    const pooling_attributes a = attributes_of(m, window, o, pooling_kind::maximum, x.rank() - 2);
    extents y{};
    if (m.fine()) slide(m, a, x.extents(), y);
    check_positions(m, x.extents());
    m.with(a);
    m.add_output(detail::floating_type({x}), std::span<const std::int64_t>(y.data(), x.rank()));
    m.add_output(dtype::i32, std::span<const std::int64_t>(y.data(), x.rank()));
  }
  const auto all = m.all(2);
  return {all[0], all[1]};
}

value max_pool_gradient(const value& dy, const value& x, per_axis window, const pooling_options& o) {
  node_maker m(op::pooling_gradient, "max_pool_gradient", {dy, x});
  if (!m.has_rank("dy", dy, 3, 2 + most_spatial) || !m.has_rank("x", x, dy.rank(), dy.rank())) return m.done();
  return pool_gradient(std::move(m), dy, x.extents(), detail::floating_type({dy, x}), window, o, pooling_kind::maximum);
}
value max_pool_index_gradient(const value& dy, const value& indexes, std::span<const std::int64_t> of_x,
                              per_axis window, const pooling_options& o) {
  node_maker m(op::pooling_index_gradient, "max_pool_index_gradient", {dy, indexes});
  if (!m.has_rank("dy", dy, 3, 2 + most_spatial)) return m.done();
  if (indexes.type() != dtype::i32)
    m.refuse("indexes", cat("holds ", to_string(indexes.type())), "i32, as max_pool_with_indexes returns");
  else if (!std::equal(indexes.extents().begin(), indexes.extents().end(), dy.extents().begin(), dy.extents().end()))
    m.refuse_extents("indexes", indexes, cat(node_maker::text_of(dy.extents()), ", as dy has"));
  check_positions(m, of_x);
  return pool_gradient(std::move(m), dy, of_x, detail::floating_type({dy}), window, o, pooling_kind::maximum);
}
value mean_pool_gradient(const value& dy, std::span<const std::int64_t> of_x, per_axis window, const pooling_options& o,
                         bool counts_padding) {
  node_maker m(op::pooling_gradient, "mean_pool_gradient", {dy});
  if (!m.has_rank("dy", dy, 3, 2 + most_spatial)) return m.done();
  return pool_gradient(std::move(m), dy, of_x, detail::floating_type({dy}), window, o,
                       counts_padding ? pooling_kind::mean : pooling_kind::mean_of_image);
}

computation pool_forward::to_request() const {
  detail::request_builder builder;
  const value image = builder.read("x", x);
  builder.write("y",
                kind == pooling_kind::maximum ? max_pool(image, window, options_of(*this))
                                              : mean_pool(image, window, options_of(*this), kind == pooling_kind::mean),
                y);
  return builder.done(options);
}

computation pool_backward::to_request() const {
  detail::request_builder builder({{"result", "dx"}});
  const bool is_maximum = kind == pooling_kind::maximum;
  if (!x && is_maximum) builder.refuse("x", "is not given", "the image whose maxima were taken");
  if (x && !is_maximum) builder.refuse("x", "is given", "none, for a mean");
  const value d = builder.read("dy", dy);
  if (x) {
    builder.write("dx", max_pool_gradient(d, builder.read("x", *x), window, options_of(*this)), dx);
  } else {
    const std::span<const std::int64_t> of_x(dx.shape().extents.data(), dx.shape().rank);
    builder.write("dx", mean_pool_gradient(d, of_x, window, options_of(*this), kind == pooling_kind::mean), dx);
  }
  return builder.done(options);
}

}  // namespace troupe::dnn

namespace troupe::dnn::detail {

void differentiate_pooling(node_differentiation& d) {
  const bool reads_x = d.attributes<pooling_attributes>().kind == pooling_kind::maximum;
  d.set(0, [&] {
    return d.made(op::pooling_gradient, reads_x ? std::vector{d.dy(), d.in(0)} : std::vector{d.dy()}, d.in(0));
  });
}

void differentiate_pooling_with_indexes(node_differentiation& d) {
  d.set(0, [&] { return d.made(op::pooling_index_gradient, {d.dy(), d.out(1)}, d.in(0)); });
}

}  // namespace troupe::dnn::detail

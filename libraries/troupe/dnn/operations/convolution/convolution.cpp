// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <troupe/base/cat.hpp>
#include <troupe/dnn/gradients/node_differentiation.hpp>
#include <troupe/dnn/operations/convolution/attributes.hpp>
#include <troupe/dnn/operations/convolution/convolution.hpp>
#include <troupe/dnn/operations/operations.hpp>
#include <troupe/dnn/operations/windows/sliding.hpp>
#include <troupe/dnn/operations/windows/spatial.hpp>

namespace troupe::dnn {
namespace {

using detail::node_maker;
using extents = std::array<std::int64_t, tensor_shape::max_rank>;

std::span<const std::int64_t> of(const extents& e, std::size_t rank) { return {e.data(), rank}; }

extent count(std::span<const std::int64_t> extents) noexcept {
  extent n = 1;
  for (const std::int64_t e : extents) n = n * extent(e);
  return n;
}

convolution_attributes attributes_of(node_maker& m, const convolution_options& o, std::size_t spatial) {
  convolution_attributes f{};
  std::fill_n(f.window.stride, most_spatial, 1);
  std::fill_n(f.window.dilation, most_spatial, 1);
  if (!m.fine()) return f;
  spread(m, "padding", o.padding, spatial, 0, f.window.padding_before);
  spread(m, "padding_after", o.padding_after.or_else(o.padding), spatial, 0, f.window.padding_after);
  spread(m, "stride", o.stride, spatial, 1, f.window.stride);
  spread(m, "dilation", o.dilation, spatial, 1, f.window.dilation);
  if (o.groups < 1) m.refuse("groups", cat("is ", o.groups), "at least 1");
  f.groups = o.groups;
  return f;
}

// Requires extents of at least 1 from axis `first` on: the number of images may be 0, but images and filters must have
// elements.
bool has_elements(node_maker& m, std::string_view name, std::span<const std::int64_t> extents, std::size_t first) {
  if (m.fine() && std::any_of(extents.begin() + static_cast<std::ptrdiff_t>(std::min(first, extents.size())),
                              extents.end(), [](std::int64_t n) { return n < 1; }))
    m.refuse(name, "is " + node_maker::text_of(extents),
             first == 0 ? "extents of at least 1" : "extents of at least 1, except the number of images");
  return m.fine();
}
bool have_elements(node_maker& m, std::string_view images, std::span<const std::int64_t> x,
                   std::span<const std::int64_t> filters) {
  return has_elements(m, images, x, 1) && has_elements(m, "filters", filters, 0);
}

// Checks that the filters fit x, and finds the extents of y.
struct convolution_check {
  node_maker& m;
  const convolution_attributes& f;
  std::size_t rank;
  std::span<const std::int64_t> x, filters;

  bool channels_fit(std::string_view name_of_filters, const value* shown_filters) const {
    if (x[1] % f.groups != 0 || filters[0] % f.groups != 0)
      m.refuse("groups", cat("is ", f.groups),
               cat("a divisor of the ", x[1], " channels and of the ", filters[0], " filters"));
    else if (filters[1] != x[1] / f.groups)
      m.refuse(
          name_of_filters,
          cat(shown_filters != nullptr ? node_maker::text_of(*shown_filters) : "is " + node_maker::text_of(filters),
              ", with ", filters[1], filters[1] == 1 ? " input channel" : " input channels"),
          cat(x[1] / f.groups, ", as ", f.groups == 1 ? "the image has" : "a group of the image has"));
    return m.fine();
  }
  // Sets the extents of y. Returns false if the filters are larger than the padded image.
  bool slides(extents& y) const {
    y[0] = x[0], y[1] = filters[0];
    for (std::size_t i = 2; i < rank; ++i) {
      y[i] = detail::positions(f.window, i - 2, x[i], filters[i]);
      if (y[i] < 1) {
        m.refuse("filters", "is " + node_maker::text_of(filters),
                 cat("a window that fits into the padded image; x is ", node_maker::text_of(x)));
        return false;
      }
    }
    return true;
  }
};

bool holds_factors(node_maker& m, std::string_view name, const value& a, const value& b) {
  if (!m.fine() || detail::are_factors(a.type(), b.type())) return m.fine();
  m.refuse(name, cat("holds ", to_string(b.type())),
           cat(to_string(a.type()), ", as the other factor; convert one of them"));
  return false;
}

}  // namespace

value convolution(const value& x, const value& filters, const convolution_options& o) {
  node_maker m(op::convolution, "convolution", {x, filters});
  if (!m.has_rank("x", x, 3, 2 + most_spatial) || !m.has_rank("filters", filters, x.rank(), x.rank()) ||
      !holds_factors(m, "filters", x, filters))
    return m.done();
  const convolution_attributes f = attributes_of(m, o, x.rank() - 2);
  extents y{};
  const convolution_check fit{m, f, x.rank(), x.extents(), filters.extents()};
  if (!have_elements(m, "x", x.extents(), filters.extents()) || !fit.channels_fit("filters", &filters) ||
      !fit.slides(y))
    return m.done();
  m.with(f);
  m.add_sum_output(detail::type_of_sums(x, filters), of(y, x.rank()), count(filters.extents().subspan(1)));
  return m.done();
}

namespace {

// Returns the most products that are summed for an element of the gradient of x.
extent summands_of_data(const value& filters) noexcept { return count(filters.extents()) / filters.extents()[1]; }

// Makes the gradient of x or of the filters, with extents `result`. Requires that a convolution of x and filters has
// the extents of dy.
value gradient(node_maker m, const value& dy, const value& other, std::span<const std::int64_t> x,
               std::span<const std::int64_t> filters, std::span<const std::int64_t> result,
               const convolution_options& o, extent summands, std::string_view name_of_other) {
  const std::size_t rank = dy.rank();
  if (result.size() != rank)
    m.refuse("result", cat("has ", detail::axes_text(result.size())), cat(rank, ", as dy has"));
  const bool of_images = result.data() == x.data();
  if (!has_elements(m, "result", result, of_images ? 1 : 0) || !has_elements(m, "dy", dy.extents(), 1) ||
      !has_elements(m, name_of_other, other.extents(), of_images ? 0 : 1) ||
      !holds_factors(m, name_of_other, dy, other))
    return m.done();
  const convolution_attributes f = attributes_of(m, o, rank - 2);
  extents y{};
  const convolution_check fit{m, f, rank, x, filters};
  if (!m.fine() || !fit.channels_fit("filters", nullptr) || !fit.slides(y)) return m.done();
  if (!std::equal(dy.extents().begin(), dy.extents().end(), y.begin()))
    m.refuse_extents("dy", dy, cat(node_maker::text_of(of(y, rank)), ", as the convolution's result has"));
  m.with(f);
  m.add_sum_output(detail::type_of_sums(dy, other), result, summands);
  return m.done();
}

}  // namespace

value convolution_data_gradient(const value& dy, const value& filters, std::span<const std::int64_t> of_x,
                                const convolution_options& o) {
  node_maker m(op::convolution_data_gradient, "convolution_data_gradient", {dy, filters});
  if (!m.has_rank("dy", dy, 3, 2 + most_spatial) || !m.has_rank("filters", filters, dy.rank(), dy.rank()))
    return m.done();
  return gradient(std::move(m), dy, filters, of_x, filters.extents(), of_x, o, summands_of_data(filters), "filters");
}

value convolution_weight_gradient(const value& dy, const value& x, std::span<const std::int64_t> of_filters,
                                  const convolution_options& o) {
  node_maker m(op::convolution_weight_gradient, "convolution_weight_gradient", {dy, x});
  if (!m.has_rank("dy", dy, 3, 2 + most_spatial) || !m.has_rank("x", x, dy.rank(), dy.rank())) return m.done();
  return gradient(std::move(m), dy, x, x.extents(), of_filters, of_filters, o, count(dy.extents()) / dy.extents()[1],
                  "x");
}

value transposed_convolution(const value& x, const value& filters, const convolution_options& o, per_axis more) {
  node_maker m(op::convolution_data_gradient, "transposed_convolution", {x, filters});
  if (!m.has_rank("x", x, 3, 2 + most_spatial) || !m.has_rank("filters", filters, x.rank(), x.rank())) return m.done();
  const std::size_t rank = x.rank();
  const convolution_attributes f = attributes_of(m, o, rank - 2);
  std::int64_t extra[most_spatial] = {};
  spread(m, "more", more, rank - 2, 0, extra);
  extents y{};
  y[0] = x.extents()[0], y[1] = filters.extents()[1] * f.groups;
  for (std::size_t i = 0; i + 2 < rank && m.fine(); ++i) {
    y[i + 2] = (x.extents()[i + 2] - 1) * f.window.stride[i] + f.window.dilation[i] * (filters.extents()[i + 2] - 1) +
               1 - f.window.padding_before[i] - f.window.padding_after[i] + extra[i];
    if (extra[i] >= f.window.stride[i])
      m.refuse("more", cat("is ", extra[i]), cat("less than stride, ", f.window.stride[i]));
    if (y[i + 2] < 1) m.refuse("padding", "leaves a result without elements", "less padding");
  }
  if (!m.fine()) return m.done();
  return gradient(std::move(m), x, filters, of(y, rank), filters.extents(), of(y, rank), o, summands_of_data(filters),
                  "filters");
}

}  // namespace troupe::dnn

namespace troupe::dnn::detail {

// y, dx and dw are each linear in both factors, so that their derivatives are convolutions too.
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

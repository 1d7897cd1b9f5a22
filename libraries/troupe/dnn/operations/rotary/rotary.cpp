// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/gradients/node_differentiation.hpp>
#include <troupe/dnn/graph/node_maker.hpp>
#include <troupe/dnn/operations/indexing/indexing.hpp>
#include <troupe/dnn/operations/pointwise/pointwise.hpp>
#include <troupe/dnn/operations/rotary/rotary.hpp>
#include <troupe/dnn/operations/shaping/shaping.hpp>
#include <vector>

namespace troupe::dnn {
namespace {

using detail::node_maker;

std::vector<std::int64_t> extents_of(const value& v) { return {v.extents().begin(), v.extents().end()}; }

// Returns the number of elements that are rotated. Checks the options.
std::int64_t width_of(node_maker& m, const value& x, const rotary_options& o) {
  if (!m.has_rank("x", x, 2, tensor_shape::max_rank - (o.interleaved ? 1 : 0))) return 0;
  const std::int64_t all = x.extents().back(), width = o.width == 0 ? all : o.width;
  if (width < 2 || width > all || width % 2 != 0)
    m.refuse("width", cat("is ", width), cat("an even number from 2 to ", all, ", the elements of a token"));
  if (!(o.base > 0) || !std::isfinite(o.base)) m.refuse("base", "is " + std::to_string(o.base), "above 0");
  return width;
}

// Returns a table with the axes of x. It has them already, or those of the tokens and of their elements, which are
// `last`.
value with_axes_of(node_maker& m, const char* name, const value& x, const value& table, std::int64_t last) {
  if (!m.fine()) return table;
  std::vector<std::int64_t> expected = extents_of(x), given(x.rank(), 1);
  expected.back() = last;
  const bool fits = table.rank() == 2 || table.rank() == x.rank();
  if (fits) std::ranges::copy_backward(table.extents(), given.end());
  if (!fits || given.back() != last || !detail::broadcasts(given, expected))
    m.refuse_extents(name, table, cat(node_maker::text_of(expected), ", where each extent but the last may be 1"));
  return m.fine() ? reshape(table, given) : table;
}

// Rotates; the tables have the axes of x.
value rotated(const value& x, const value& cosines, const value& sines, std::int64_t width, bool interleaved) {
  const std::size_t last = x.rank() - 1;
  const std::int64_t half = width / 2, all = x.extents()[last];
  const auto as_pairs = [](const value& v, std::int64_t of_pair) {
    std::vector<std::int64_t> to = extents_of(v);
    to.back() /= of_pair;
    to.push_back(of_pair);
    return reshape(v, to);
  };
  const value turned = width == all ? x : slice(x, last, 0, width);
  const value pairs = interleaved ? as_pairs(turned, 2) : turned;
  const value c = interleaved ? as_pairs(cosines, 1) : cosines, s = interleaved ? as_pairs(sines, 1) : sines;
  const std::size_t axis = interleaved ? last + 1 : last;
  const std::int64_t each = interleaved ? 1 : half;
  const value a = slice(pairs, axis, 0, each), b = slice(pairs, axis, each, each);
  const dtype type = detail::is_half(x.type()) ? x.type() : detail::floating_type({x});
  const auto stored = [&](const value& v) { return v.type() == type ? v : convert(v, type); };
  value y = concatenate({stored(a * c - b * s), stored(b * c + a * s)}, axis);
  if (interleaved) y = reshape(y, turned.extents());
  return width == all ? y : concatenate({y, stored(slice(x, last, width, all - width))}, last);
}

}  // namespace

value rotary(const value& x, const value& positions, const rotary_options& o) {
  node_maker m(op::pointwise, "rotary", {x, positions});
  const std::int64_t width = width_of(m, x, o), half = width / 2;
  if (!m.fine()) return m.done();
  const value column = positions.rank() == 1 ? reshape(positions, {positions.extents()[0], 1}) : positions;
  const value at = with_axes_of(m, "positions", x, column, 1);
  if (!m.fine()) return m.done();
  std::vector<std::int64_t> of_pairs(x.rank(), 1);
  of_pairs.back() = half;
  const dtype type = detail::floating_type({x, positions});
  const value pair = convert(iota(of_pairs, x.rank() - 1), type);
  const value angle = convert(at, type) * exp(pair * (-2 * std::log(o.base) / static_cast<double>(width)));
  return rotated(x, cos(angle), sin(angle), width, o.interleaved);
}

value rotary(const value& x, const value& cosines, const value& sines, const rotary_options& o) {
  node_maker m(op::pointwise, "rotary", {x, cosines, sines});
  const std::int64_t width = width_of(m, x, o), half = width / 2;
  const value c = with_axes_of(m, "cosines", x, cosines, half), s = with_axes_of(m, "sines", x, sines, half);
  if (!m.fine()) return m.done();
  return rotated(x, c, s, width, o.interleaved);
}

}  // namespace troupe::dnn

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/gradients/node_differentiation.hpp>
#include <troupe/dnn/graph/node_maker.hpp>
#include <troupe/dnn/operations/indexing/indexing.hpp>
#include <troupe/dnn/operations/operation_table.hpp>
#include <troupe/dnn/operations/pointwise/pointwise.hpp>
#include <troupe/dnn/operations/shaping/attributes.hpp>
#include <troupe/dnn/operations/shaping/shaping.hpp>

namespace troupe::dnn {
namespace {

using detail::node_maker;
using extents = std::array<std::int64_t, tensor_shape::max_rank>;

// Returns the type of the result of an operation that only moves elements.
dtype type_of(const value& x) noexcept { return x.type(); }

}  // namespace

value reshape(const value& x, std::span<const std::int64_t> to) {
  node_maker m(op::reshape, "reshape", {x});
  if (!m.has_rank("x", x, 1, tensor_shape::max_rank)) return m.done();
  if (to.empty() || to.size() > tensor_shape::max_rank) {
    m.refuse("result", cat("has ", detail::axes_text(to.size())), "1 to 8");
    return m.done();
  }
  tensor_shape s{.rank = to.size()}, before{.rank = x.rank()};
  std::copy(to.begin(), to.end(), s.extents.begin());
  std::copy(x.extents().begin(), x.extents().end(), before.extents.begin());
  if (elements_of(s) != elements_of(before))
    m.refuse("result", "is " + node_maker::text_of(to),
             cat("as many elements as x has, which ", node_maker::text_of(x)));
  m.add_output(type_of(x), to);
  return m.done();
}

value channels(const value& x, std::size_t rank) {
  extents e{};
  e.fill(1);
  if (x.rank() == 1 && rank >= 2 && rank <= tensor_shape::max_rank) {
    e[1] = x.extents()[0];
    return reshape(x, std::span<const std::int64_t>(e.data(), rank));
  }
  node_maker m(op::reshape, "reshape", {x});
  m.refuse("channels", cat("has ", detail::axes_text(x.rank()), ", for a result of ", rank),
           "1, for a result of 2 to 8");
  return m.done();
}

value transpose(const value& x, std::span<const std::size_t> from) {
  node_maker m(op::transposition, "transposition", {x});
  if (!m.has_rank("x", x, 1, tensor_shape::max_rank)) return m.done();
  transposition_attributes a{};
  extents e{};
  if (from.size() != x.rank() || detail::bits_of(from, x.rank()) < 0)
    m.refuse("order", "is not an order of the axes of x", "each axis once");
  for (std::size_t i = 0; m.fine() && i < from.size(); ++i)
    a.from[i] = static_cast<std::int64_t>(from[i]), e[i] = x.extents()[from[i]];
  m.with(a);
  m.add_output(type_of(x), std::span<const std::int64_t>(e.data(), x.rank()));
  return m.done();
}

value concatenate(std::span<const value> parts, std::size_t along) {
  node_maker m(op::concatenation, "concatenation", std::vector<value>(parts.begin(), parts.end()));
  constexpr std::size_t most = info(op::concatenation).most_inputs;
  if (parts.empty() || parts.size() > most)
    m.refuse("parts", cat("has ", parts.size(), " elements"), cat("1 to ", most));
  if (!m.fine() || !m.has_rank("first part", parts[0], 1, tensor_shape::max_rank)) return m.done();
  const value& one = parts[0];
  if (along >= one.rank()) m.refuse("axis", cat("is ", along), cat("less than ", one.rank()));
  extents e{};
  std::copy(one.extents().begin(), one.extents().end(), e.begin());
  for (std::size_t i = 1; m.fine() && i < parts.size(); ++i) {
    const value& p = parts[i];
    bool fits = p.rank() == one.rank();
    for (std::size_t k = 0; fits && k < p.rank(); ++k) fits = k == along || p.extents()[k] == one.extents()[k];
    if (!fits)
      m.refuse_extents(
          cat("part ", i), p,
          cat(node_maker::text_of(one.extents()), ", as part 0 has; the extent along axis ", along, " may differ"));
    else if (p.type() != one.type())
      m.refuse(cat("part ", i), cat("holds ", to_string(p.type())), cat(to_string(one.type()), ", as part 0 does"));
    if (m.fine() && __builtin_add_overflow(e[along], p.extents()[along], &e[along]))
      m.refuse("result", "is too large", "extents that fit 64 bits");
  }
  m.with(concatenation_attributes{static_cast<std::int64_t>(along)});
  if (m.fine()) m.add_output(type_of(one), std::span<const std::int64_t>(e.data(), one.rank()));
  return m.done();
}

value slice(const value& x, std::size_t axis, std::int64_t first, std::int64_t count, std::int64_t step) {
  node_maker m(op::slice, "slice", {x});
  if (!m.has_rank("x", x, 1, tensor_shape::max_rank)) return m.done();
  if (axis >= x.rank()) m.refuse("axis", cat("is ", axis), cat("less than ", x.rank()));
  if (step < 1) m.refuse("step", cat("is ", step), "at least 1");
  if (!m.fine()) return m.done();
  const std::int64_t here = x.extents()[axis];
  // The last element, first + (count - 1) * step, is within x.
  const bool fits = first >= 0 && count >= 0 && first <= here && (count == 0 || (here - 1 - first) / step >= count - 1);
  if (!fits || (count > 0 && first == here))
    m.refuse("range",
             cat("begins at ", first, " and has ", counted(count, "element", "elements"),
                 step == 1 ? "" : cat(" at every ", step, " indexes")),
             cat("a range within the ", here, " elements along axis ", axis));
  slice_attributes a{};
  std::fill(std::begin(a.step), std::end(a.step), 1);
  extents e{};
  std::copy(x.extents().begin(), x.extents().end(), e.begin());
  a.first[axis] = first, a.step[axis] = count > 1 ? step : 1, e[axis] = count;
  m.with(a);
  m.add_output(type_of(x), std::span<const std::int64_t>(e.data(), x.rank()));
  return m.done();
}

value expand(const value& x, std::span<const std::int64_t> to) {
  node_maker m(op::pointwise, "expand", {x});
  const bool has_axes = !to.empty() && to.size() <= tensor_shape::max_rank;
  if (!has_axes) m.refuse("result", cat("has ", detail::axes_text(to.size())), "1 to 8");
  if (x.rank() > to.size() && has_axes)
    m.refuse("x", cat("has ", detail::axes_text(x.rank())), cat("at most ", to.size(), ", as the result has"));
  if (!m.fine()) return m.done();
  std::vector<std::int64_t> aligned(to.size(), 1);
  std::ranges::copy_backward(x.extents(), aligned.end());
  if (!detail::broadcasts(aligned, to))
    m.refuse_extents("x", x, cat(node_maker::text_of(to), " at the end, where each extent may be 1"));
  if (!m.fine()) return m.done();
  const value one = full(to, 1);
  // A product with 1 is exact, also of infinities and NaN.
  const value y = x.rank() == 0 ? x * one : reshape(x, aligned) * one;
  return x.rank() == 0 || x.type() == y.type() ? y : convert(y, x.type());
}

}  // namespace troupe::dnn

namespace troupe::dnn::detail {
namespace {

// If the gradient is the same for all elements, sets it as the gradient of each input, and returns true.
bool set_number(node_differentiation& d) {
  if (d.gradient().rank() != 0) return false;
  for (std::size_t i = 0; i < d.node().inputs.size(); ++i) d.set(i, [&] { return d.gradient(); });
  return true;
}

}  // namespace

void differentiate_reshape(node_differentiation& d) {
  if (!set_number(d)) d.set(0, [&] { return reshape(d.dy(), d.in(0).extents()); });
}

void differentiate_transposition(node_differentiation& d) {
  if (set_number(d)) return;
  const auto a = d.attributes<transposition_attributes>();
  std::vector<std::size_t> to(d.in(0).rank());
  for (std::size_t i = 0; i < to.size(); ++i) to[static_cast<std::size_t>(a.from[i])] = i;
  d.set(0, [&] { return transpose(d.gradient(), to); });
}

// The gradient of the slice: where it is in the gradient of the input is known to sliced_gradients.
void differentiate_slice(node_differentiation& d) {
  d.set(0, [&] { return d.dy(); });
}

void differentiate_concatenation(node_differentiation& d) {
  if (set_number(d)) return;
  std::int64_t first = 0;
  const auto along = static_cast<std::size_t>(d.attributes<concatenation_attributes>().along);
  for (std::size_t i = 0; i < d.node().inputs.size(); ++i) {
    const std::int64_t count = d.in(i).extents()[along];
    d.set(i, [&] { return slice(d.dy(), along, first, count); });
    first += count;
  }
}

}  // namespace troupe::dnn::detail

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/dnn/gradients/node_differentiation.hpp>
#include <troupe/dnn/operations/operations.hpp>
#include <troupe/dnn/operations/pointwise/pointwise.hpp>
#include <troupe/dnn/operations/shaping/attributes.hpp>
#include <troupe/dnn/operations/shaping/shaping.hpp>

namespace troupe::dnn::detail {
namespace {

// Returns the gradient of the tensor that a slice was taken from: 0 before and after the slice.
value padded_slice(const node_differentiation& d, std::int64_t axis, std::int64_t first) {
  const auto along = static_cast<std::size_t>(axis);
  const std::int64_t count = d.out(0).extents()[along], end = first + count, all = d.in(0).extents()[along];
  const dtype type = d.dy().type();
  const auto zeros = [&](std::int64_t from, std::int64_t until) {
    const value none = select(slice(d.in(0), along, from, until - from), 0, 0);
    return none.type() == type ? none : convert(none, type);
  };
  std::vector<value> parts;
  if (first > 0) parts.push_back(zeros(0, first));
  parts.push_back(d.dy());
  if (end < all) parts.push_back(zeros(end, all));
  return concatenate(parts, along);
}

// A gradient that is the same for all elements is that of each input, too. Sets it, and returns true.
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
  const auto f = d.attributes<transposition_attributes>();
  std::vector<std::size_t> to(d.in(0).rank());
  for (std::size_t i = 0; i < to.size(); ++i) to[static_cast<std::size_t>(f.from[i])] = i;
  d.set(0, [&] { return transpose(d.gradient(), to); });
}

void differentiate_slice(node_differentiation& d) {
  const auto f = d.attributes<slice_attributes>();
  for (std::size_t i = 0; i < d.in(0).rank(); ++i)
    if (d.out(0).extents()[i] != d.in(0).extents()[i])
      return d.set(0, [&] { return padded_slice(d, static_cast<std::int64_t>(i), f.first[i]); });
  d.set(0, [&] { return d.gradient(); });
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

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/dnn/gradients/sliced_gradients.hpp>
#include <troupe/dnn/graph/node_maker.hpp>
#include <troupe/dnn/operations/indexing/indexing.hpp>
#include <troupe/dnn/operations/pointwise/pointwise.hpp>
#include <troupe/dnn/operations/shaping/attributes.hpp>
#include <troupe/dnn/operations/shaping/shaping.hpp>

namespace troupe::dnn::detail {
namespace {

// Returns zeros with the extents of a tensor, but for one axis. They are computed without memory.
value zeros(const value& tensor, std::size_t axis, std::int64_t count, dtype type) {
  std::vector<std::int64_t> extents(tensor.extents().begin(), tensor.extents().end());
  extents[axis] = count;
  const std::vector<std::int64_t> as_rows = extents.size() == 1 ? std::vector<std::int64_t>{1, count} : extents;
  const auto shortest = static_cast<std::size_t>(std::ranges::min_element(as_rows) - as_rows.begin());
  const value zero = reshape(iota(as_rows, shortest) * 0, extents);
  return type == zero.type() ? zero : convert(zero, type);
}

// Concatenates any number of tensors.
value concatenated(std::vector<value> all, std::size_t axis) {
  constexpr std::size_t most = info(op::concatenation).most_inputs;
  while (all.size() > most) {
    std::vector<value> next;
    for (std::size_t i = 0; i < all.size(); i += most)
      next.push_back(concatenate(std::span(all).subspan(i, std::min(most, all.size() - i)), axis));
    all = std::move(next);
  }
  return all.size() == 1 ? all[0] : concatenate(all, axis);
}

}  // namespace

void sliced_gradients::add(const producer& slice, value gradient) {
  const auto a = slice.attributes.as<slice_attributes>();
  const tensor_shape& out = slice.outputs[0].shape;
  const std::span<const std::int64_t> in = slice.inputs[0].extents();
  std::size_t axis = 0;
  while (axis + 1 < in.size() && out.extents[axis] == in[axis]) ++axis;
  all_.push_back({axis, a.first[axis], a.first[axis] + out.extents[axis], std::move(gradient)});
}

value sliced_gradients::sum_over(const value& tensor) const {
  std::vector<part> rest = all_;
  std::ranges::stable_sort(rest, {}, [](const part& p) { return std::pair(p.axis, p.first); });
  const bool is_narrow =
      std::ranges::all_of(rest, [&](const part& p) { return p.gradient.type() == rest[0].gradient.type(); });
  std::optional<value> sum;
  while (!rest.empty()) {
    // Takes slices along one axis that do not overlap.
    const std::size_t axis = rest[0].axis;
    const dtype type = is_narrow ? rest[0].gradient.type() : floating_type({rest[0].gradient, tensor});
    std::vector<value> parts;
    std::vector<part> others;
    std::int64_t end = 0;
    for (part& p : rest) {
      if (p.axis != axis || p.first < end) {
        others.push_back(std::move(p));
        continue;
      }
      if (p.first > end) parts.push_back(zeros(tensor, axis, p.first - end, type));
      parts.push_back(p.gradient.type() == type ? p.gradient : convert(p.gradient, type));
      end = p.end;
    }
    if (end < tensor.extents()[axis]) parts.push_back(zeros(tensor, axis, tensor.extents()[axis] - end, type));
    const value all = concatenated(std::move(parts), axis);
    sum = sum ? sum_of(*sum, all) : all;
    rest = std::move(others);
  }
  return *sum;
}

}  // namespace troupe::dnn::detail

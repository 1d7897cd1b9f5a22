// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/dnn/gradients/sliced_gradients.hpp>
#include <troupe/dnn/graph/lines_along.hpp>
#include <troupe/dnn/graph/node_maker.hpp>
#include <troupe/dnn/operations/indexing/indexing.hpp>
#include <troupe/dnn/operations/pointwise/pointwise.hpp>
#include <troupe/dnn/operations/shaping/attributes.hpp>
#include <troupe/dnn/operations/shaping/shaping.hpp>

namespace troupe::dnn::detail {
namespace {

// Returns zeros with the extents of a tensor, but for one axis.
value zeros(std::span<const std::int64_t> of_tensor, std::size_t axis, std::int64_t count, dtype type) {
  std::vector<std::int64_t> extents(of_tensor.begin(), of_tensor.end());
  extents[axis] = count;
  const value zero = full(extents, 0);
  return type == zero.type() ? zero : convert(zero, type);
}

// Returns the elements of a tensor along an axis with step - 1 zeros between them.
value with_zeros_between(const value& x, std::size_t axis, std::int64_t step) {
  std::vector<std::int64_t> to(x.extents().begin(), x.extents().end());
  const auto [outer, count, inner] = lines_along(to, axis);
  const value apart = reshape(x, {outer, count, 1, inner});
  const value all = concatenate({apart, zeros(apart.extents(), 2, step - 1, x.type())}, 2);
  to[axis] = (count - 1) * step + 1;
  return reshape(slice(reshape(all, {outer, count * step, inner}), 1, 0, to[axis]), to);
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
  while (a.step[axis] == 1 && axis + 1 < in.size() && out.extents[axis] == in[axis]) ++axis;
  const std::int64_t step = a.step[axis], span = out.extents[axis] == 0 ? 0 : (out.extents[axis] - 1) * step + 1;
  all_.push_back({axis, a.first[axis], a.first[axis] + span,
                  step == 1 ? std::move(gradient) : with_zeros_between(gradient, axis, step)});
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
      if (p.first > end) parts.push_back(zeros(tensor.extents(), axis, p.first - end, type));
      parts.push_back(p.gradient.type() == type ? p.gradient : convert(p.gradient, type));
      end = p.end;
    }
    if (end < tensor.extents()[axis])
      parts.push_back(zeros(tensor.extents(), axis, tensor.extents()[axis] - end, type));
    const value all = concatenated(std::move(parts), axis);
    sum = sum ? sum_of(*sum, all) : all;
    rest = std::move(others);
  }
  return *sum;
}

}  // namespace troupe::dnn::detail

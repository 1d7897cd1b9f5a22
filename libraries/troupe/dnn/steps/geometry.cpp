// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/dnn/operations/indexing/attributes.hpp>
#include <troupe/dnn/operations/shaping/attributes.hpp>
#include <troupe/dnn/steps/geometry.hpp>

namespace troupe::dnn {

tensor_shape grouped(const tensor_shape& s, std::int64_t channels, std::int64_t groups) noexcept {
  if (groups <= 1) return s;
  tensor_shape out{.rank = s.rank + 1};
  for (std::size_t i = 0; i < s.rank; ++i)
    out.extents[i < 2 ? i : i + 1] = s.extents[i], out.strides[i < 2 ? i : i + 1] = s.strides[i];
  const bool has_channels = s.extents[1] == channels;
  const std::int64_t of_group = has_channels ? channels / groups : 1;
  out.extents[1] = s.extents[1] == 1 ? 1 : groups;
  out.extents[2] = of_group;
  out.strides[1] = s.strides[1] * of_group, out.strides[2] = s.strides[1];
  return out;
}

namespace {

// Finds strides with which elements stored as `from` have the extents of `to`. Returns false if there are none.
bool set_reshaped_strides(tensor_shape& to, const tensor_shape& from) noexcept {
  // Each group of axes of `from` becomes one of as many elements, from the last axes to the first. The axes of a group
  // of `from` must be one axis in memory.
  std::size_t i = from.rank, k = to.rank;
  while (i > 0 || k > 0) {
    std::int64_t before = 1, after = 1, stride = 0, next = 0;
    const auto take = [&] {
      const std::int64_t extent = from.extents[--i];
      if (extent == 1) return true;
      if (before != 1 && from.strides[i] != next) return false;
      if (before == 1) stride = from.strides[i];
      before *= extent, next = from.strides[i] * extent;
      return true;
    };
    while (i > 0 && before == 1)
      if (!take()) return false;
    const std::size_t end = k;
    while (k > 0 && (after < before || to.extents[k - 1] == 1)) {
      after *= to.extents[--k];
      while (before < after)
        if (i == 0 || !take()) return false;
    }
    if (before != after) return false;
    for (std::size_t a = end; a-- > k; stride *= to.extents[a]) to.strides[a] = stride;
  }
  return true;
}

using operation = elementwise_kernel::operation;

std::uint16_t add(elementwise_kernel& to, const operation& o) {
  to.operations.push_back(o);
  return static_cast<std::uint16_t>(to.operations.size() - 1);
}
std::uint16_t add(elementwise_kernel& to, const location& l) {
  to.operands.push_back(l);
  return static_cast<std::uint16_t>(to.operands.size() - 1);
}

// Returns a location in the memory of `of` that has as many axes as a gather's result, all of extent 1.
location with_ones(const location& of, const location& x, const location& indexes) noexcept {
  location out = of;
  out.shape = {.rank = x.shape.rank - 1 + indexes.shape.rank};
  for (std::size_t i = 0; i < out.shape.rank; ++i) out.shape.extents[i] = 1;
  return out;
}
void set_axis(location& of, std::size_t to, const location& from, std::size_t axis) noexcept {
  of.shape.extents[to] = from.shape.extents[axis], of.shape.strides[to] = from.shape.strides[axis];
}

std::uint16_t add_gather(elementwise_kernel& to, std::size_t axis, const location& x, const location& indexes) {
  const std::size_t rank = indexes.shape.rank;
  location at = with_ones(indexes, x, indexes), parts = with_ones(x, x, indexes);  // at index 0 along the axis
  for (std::size_t i = 0; i < rank; ++i) set_axis(at, axis + i, indexes, i);
  for (std::size_t i = 0; i < x.shape.rank; ++i)
    if (i != axis) set_axis(parts, i < axis ? i : i - 1 + rank, x, i);
  const auto number = [&](std::int64_t of) {
    return add(to, {.what = operation::kind::number, .value = static_cast<double>(of)});
  };
  const std::uint16_t index = add(to, {.what = operation::kind::read, .operand = add(to, at)}),
                      count = number(x.shape.extents[axis]), stride = number(x.shape.strides[axis]);
  return add(to, {.what = operation::kind::read_at, .operand = add(to, parts), .from = {index, count, stride}});
}

}  // namespace

std::optional<location> view_of(const encoded_node& n, const location& x, const tensor_shape& result) noexcept {
  location out = x;
  out.shape = result;
  if (n.what == op::reshape) return set_reshaped_strides(out.shape, x.shape) ? std::optional(out) : std::nullopt;
  out.shape.strides = x.shape.strides;
  if (n.what == op::transposition) {
    const auto a = n.attributes.as<transposition_attributes>();
    for (std::size_t i = 0; i < result.rank; ++i)
      out.shape.strides[i] = x.shape.strides[static_cast<std::size_t>(a.from[i])];
  } else {
    const auto a = n.attributes.as<slice_attributes>();
    for (std::size_t i = 0; i < result.rank; ++i)
      out.offset += a.first[i] * x.shape.strides[i], out.shape.strides[i] *= a.step[i];
  }
  return out;
}

location positions_of(const encoded_node& n, const tensor_shape& of) noexcept {
  location out{.number = location::nowhere, .type = dtype::f32, .shape = of};
  out.shape.strides = {};
  if (n.what == op::iota)
    out.shape.strides[static_cast<std::size_t>(n.attributes.as<iota_attributes>().along)] = 1;
  else
    out.shape.strides = dense_strides(of);
  return out;
}

void set_iteration_space(elementwise_kernel& k) {
  constexpr std::size_t none = SIZE_MAX;
  std::size_t first = none;
  for (const operation& o : k.operations)
    if (o.what == operation::kind::write && (first == none || k.operands[first].is_buffer)) first = o.operand;
  std::vector<axis_values> strides;
  k.operand_in_space.resize(k.operands.size());
  const auto take = [&](std::size_t i) {
    k.operand_in_space[i] = strides.size();
    strides.push_back(broadcast_strides(k.operands[i].shape, k.extents.rank, k.extents.extents));
  };
  if (first != none) take(first);
  for (std::size_t i = 0; i < k.operands.size(); ++i)
    if (i != first) take(i);
  k.over = iteration_space(k.extents.rank, k.extents.extents, std::move(strides), true);
}

std::uint16_t add_values_by_position(elementwise_kernel& to, const encoded_node& n, std::span<const location> inputs) {
  if (n.what == op::gather)
    return add_gather(to, static_cast<std::size_t>(n.attributes.as<gather_attributes>().axis), inputs[0], inputs[1]);
  const std::uint16_t positions = add(to, positions_of(n, to.extents));
  if (n.what == op::iota) return add(to, {.what = operation::kind::position, .operand = positions});
  elementwise_kernel::sequence s{n.attributes.as<random_attributes>(), {}};
  if (!inputs.empty()) s.words = inputs[0];
  to.sequences.push_back(s);
  const auto number = static_cast<std::uint16_t>(to.sequences.size() - 1);
  return add(to, {.what = operation::kind::random, .operand = positions, .from = {number}});
}

}  // namespace troupe::dnn

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/cutlass/variants/convolutions/convolution_operands.hpp>
#include <troupe/cutlass/variants/signature.hpp>

namespace troupe::cutlass {
namespace {

// Returns a tensor with these spatial extents, which are in the request's order: depth, height, width.
grouped_tensor tensor_of(const placed_tensor& t, const std::int64_t* extents, std::int64_t items, std::int64_t groups,
                         std::int64_t channels, std::int64_t group) noexcept {
  grouped_tensor out{.address = t.address, .type = t.type, .items = items, .groups = groups, .channels = channels};
  const auto stride_of = [](std::int64_t extent, std::int64_t d) { return extent == 1 ? 0 : d; };
  for (std::size_t i = 0; i < grouped_tensor::spatial_axes; ++i) {
    const std::size_t from = grouped_tensor::spatial_axes - 1 - i;
    out.spatial_extents[i] = extents[from], out.spatial_strides[i] = stride_of(extents[from], t.spatial[from]);
  }
  out.item = stride_of(items, t.item), out.group = stride_of(groups, group);
  out.channel = channels == 1 ? 1 : t.channel;
  return out;
}

}  // namespace

int grouped_tensor::alignment() const noexcept {
  const auto bytes = static_cast<std::int64_t>(bytes_of(type));
  return alignment_of({static_cast<std::int64_t>(address), item * bytes, group * bytes, spatial_strides[0] * bytes,
                       spatial_strides[1] * bytes, spatial_strides[2] * bytes});
}

std::int64_t grouped_tensor::spatial_stride(bool with_items) const noexcept {
  std::int64_t count = 1, stride = 1;
  const auto add = [&](std::int64_t extent, std::int64_t axis_stride) {
    if (extent == 1) return;
    if (count == 1)
      stride = axis_stride;
    else if (axis_stride != stride * count)
      stride = 0;
    count *= extent;
  };
  for (std::size_t i = 0; i < spatial_axes; ++i) add(spatial_extents[i], spatial_strides[i]);
  if (with_items) add(items, item);
  constexpr std::int64_t any_aligned = 64;
  return count == 1 ? any_aligned : stride;
}

bool grouped_tensor::has_k_in_order() const noexcept {
  if (channel != 1) return false;
  std::int64_t next = channels;
  for (std::size_t i = 0; i < spatial_axes; ++i) {
    if (spatial_extents[i] != 1 && spatial_strides[i] != next) return false;
    next *= spatial_extents[i];
  }
  return true;
}

grouped_tensor image_of(const convolution_problem& p) noexcept {
  if (p.result == computed_tensor::dx)
    return tensor_of(p.y, p.out, p.images, p.groups, p.filters_of_group, p.filters_of_group * p.y.channel);
  return tensor_of(p.x, p.in, p.images, p.groups, p.channels_of_group, p.channels_of_group * p.x.channel);
}
grouped_tensor filters_of(const convolution_problem& p) noexcept {
  return tensor_of(p.filters, p.window, p.filters_of_group, p.groups, p.channels_of_group,
                   p.filters_of_group * p.filters.item);
}
grouped_tensor result_of(const convolution_problem& p) noexcept {
  if (p.result == computed_tensor::dfilters) return filters_of(p);
  const bool forward = p.result == computed_tensor::y;
  const placed_tensor& t = p.computed();
  const std::int64_t channels = forward ? p.filters_of_group : p.channels_of_group;
  const std::int64_t* const extents = forward ? p.out : p.in;
  // The two channels of a pair are in different groups, so the result has one group.
  if (p.paired) return tensor_of(t, extents, p.images, 1, p.groups * channels / 2, 0);
  return tensor_of(t, extents, p.images, p.groups, channels, channels * t.channel);
}

grouped_tensor in_order(const grouped_tensor& t, std::uint64_t address, bool groups_outside) noexcept {
  grouped_tensor out = t;
  out.address = address, out.channel = 1;
  std::int64_t next = t.channels;
  if (!groups_outside) out.group = t.groups == 1 ? 0 : next, next *= t.groups;
  for (std::size_t i = 0; i < grouped_tensor::spatial_axes; ++i) {
    out.spatial_strides[i] = t.spatial_extents[i] == 1 ? 0 : next;
    next *= t.spatial_extents[i];
  }
  out.item = t.items == 1 ? 0 : next, next *= t.items;
  if (groups_outside) out.group = t.groups == 1 ? 0 : next;
  return out;
}

tensor_copy copy_of(const grouped_tensor& from, const grouped_tensor& to) noexcept {
  tensor_copy out{.from = from.address, .to = to.address, .element_bytes = bytes_of(to.type)};
  const auto axis = [](std::int64_t extent, std::int64_t inside, std::int64_t read, std::int64_t written) {
    return tensor_copy::copied_axis{extent, std::min(extent, inside), read, written};
  };
  out.axes = {{axis(to.channels, from.channels, from.channel, to.channel),
               axis(to.spatial_extents[0], from.spatial_extents[0], from.spatial_strides[0], to.spatial_strides[0]),
               axis(to.spatial_extents[1], from.spatial_extents[1], from.spatial_strides[1], to.spatial_strides[1]),
               axis(to.spatial_extents[2], from.spatial_extents[2], from.spatial_strides[2], to.spatial_strides[2]),
               axis(to.items, from.items, from.item, to.item), axis(to.groups, from.groups, from.group, to.group)}};
  return out;
}

}  // namespace troupe::cutlass

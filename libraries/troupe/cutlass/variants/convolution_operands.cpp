// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/cutlass/cells/convolution_operands.hpp>
#include <troupe/cutlass/cells/form.hpp>

namespace troupe::cutlass {
namespace {

// `extents` are the places as the request has them: depth first.
grouped_tensor tensor_of(const placed_tensor& t, const std::int64_t* extents, std::int64_t items, std::int64_t groups,
                         std::int64_t channels, std::int64_t group) noexcept {
  grouped_tensor out{.address = t.address, .type = t.type, .items = items, .groups = groups, .channels = channels};
  const auto distance = [](std::int64_t extent, std::int64_t d) { return extent == 1 ? 0 : d; };
  for (std::size_t i = 0; i < grouped_tensor::spaces; ++i) {
    const std::size_t from = grouped_tensor::spaces - 1 - i;
    out.places[i] = extents[from], out.space[i] = distance(extents[from], t.spatial[from]);
  }
  out.item = distance(items, t.item), out.group = distance(groups, group);
  out.channel = channels == 1 ? 1 : t.channel;
  return out;
}

}  // namespace

int grouped_tensor::alignment() const noexcept {
  const auto bytes = static_cast<std::int64_t>(bytes_of(type));
  return alignment_of({static_cast<std::int64_t>(address), item * bytes, group * bytes, space[0] * bytes,
                       space[1] * bytes, space[2] * bytes});
}

std::int64_t grouped_tensor::step_of_places(bool with_items) const noexcept {
  std::int64_t count = 1, step = 1;
  const auto add = [&](std::int64_t extent, std::int64_t distance) {
    if (extent == 1) return;
    if (count == 1)
      step = distance;
    else if (distance != step * count)
      step = 0;
    count *= extent;
  };
  for (std::size_t i = 0; i < spaces; ++i) add(places[i], space[i]);
  if (with_items) add(items, item);
  constexpr std::int64_t any_aligned = 64;
  return count == 1 ? any_aligned : step;
}

bool grouped_tensor::has_terms_in_order() const noexcept {
  if (channel != 1) return false;
  std::int64_t next = channels;
  for (std::size_t i = 0; i < spaces; ++i) {
    if (places[i] != 1 && space[i] != next) return false;
    next *= places[i];
  }
  return true;
}

grouped_tensor image_of(const convolution_problem& p) noexcept {
  if (p.result == convolution_result::dx)
    return tensor_of(p.y, p.window.out, p.images, p.groups, p.outputs, p.outputs * p.y.channel);
  return tensor_of(p.x, p.window.in, p.images, p.groups, p.channels, p.channels * p.x.channel);
}
grouped_tensor filters_of(const convolution_problem& p) noexcept {
  return tensor_of(p.filters, p.window.width, p.outputs, p.groups, p.channels, p.outputs * p.filters.item);
}
grouped_tensor result_of(const convolution_problem& p) noexcept {
  if (p.result == convolution_result::dfilters) return filters_of(p);
  const bool forward = p.result == convolution_result::y;
  const placed_tensor& t = p.computed();
  const std::int64_t channels = forward ? p.outputs : p.channels;
  const std::int64_t* const places = forward ? p.window.out : p.window.in;
  // The halves of pairs lie in different groups.
  if (p.paired) return tensor_of(t, places, p.images, 1, p.groups * channels / 2, 0);
  return tensor_of(t, places, p.images, p.groups, channels, channels * t.channel);
}

grouped_tensor in_order(const grouped_tensor& t, std::uint64_t address, bool groups_outside) noexcept {
  grouped_tensor out = t;
  out.address = address, out.channel = 1;
  std::int64_t next = t.channels;
  if (!groups_outside) out.group = t.groups == 1 ? 0 : next, next *= t.groups;
  for (std::size_t i = 0; i < grouped_tensor::spaces; ++i) {
    out.space[i] = t.places[i] == 1 ? 0 : next;
    next *= t.places[i];
  }
  out.item = t.items == 1 ? 0 : next, next *= t.items;
  if (groups_outside) out.group = t.groups == 1 ? 0 : next;
  return out;
}

tensor_copy copy_of(const grouped_tensor& from, const grouped_tensor& to) noexcept {
  tensor_copy out{.from = from.address, .to = to.address, .element_bytes = bytes_of(to.type)};
  const auto along = [](std::int64_t extent, std::int64_t inside, std::int64_t read, std::int64_t written) {
    return tensor_copy::along{extent, std::min(extent, inside), read, written};
  };
  out.indexes = {{along(to.channels, from.channels, from.channel, to.channel),
                  along(to.places[0], from.places[0], from.space[0], to.space[0]),
                  along(to.places[1], from.places[1], from.space[1], to.space[1]),
                  along(to.places[2], from.places[2], from.space[2], to.space[2]),
                  along(to.items, from.items, from.item, to.item),
                  along(to.groups, from.groups, from.group, to.group)}};
  return out;
}

}  // namespace troupe::cutlass

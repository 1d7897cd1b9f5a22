// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>
#include <troupe/cutlass/host/convolution_parts.hpp>
#include <troupe/epilogue/host/runs.hpp>
#include <type_traits>

namespace troupe::cutlass::host {
namespace {

// Returns the offset, in elements, of position number `i` of spatial axes with these extents.
std::int64_t spatial_offset(const placed_tensor& t, const std::int64_t* extents, std::int64_t i) noexcept {
  return i / (extents[2] * extents[1]) * t.spatial[0] + i / extents[2] % extents[1] * t.spatial[1] +
         i % extents[2] * t.spatial[2];
}

std::byte* bytes_at(const placed_tensor& t, std::int64_t element) noexcept {
  return reinterpret_cast<std::byte*>(t.address) + element * static_cast<std::int64_t>(bytes_of(t.type));
}

// Reads n elements, `stride` elements apart: i8 as it is, other types as float or double.
template <class T>
void read_run(dtype type, const std::byte* from, std::int64_t stride, T* to, std::int64_t n) noexcept {
  if constexpr (std::is_same_v<T, std::int8_t>) {
    for (std::int64_t i = 0; i < n; ++i) std::memcpy(to + i, from + i * stride, 1);
  } else {
    epilogue::host::read(type, from, stride, to, n);
  }
}

}  // namespace

template <class T>
void tensor_panels::gather(const part& p, T* to, thread_team& team) const {
  const auto* const from = reinterpret_cast<const std::byte*>(address_);
  const auto bytes = static_cast<std::int64_t>(bytes_of(type_));
  panels::gather(p, to, team, [&](std::int64_t element, std::int64_t stride, T* out, std::int64_t n) {
    read_run(type_, from + element * bytes, stride, out, n);
  });
}

template void tensor_panels::gather<float>(const part&, float*, thread_team&) const;
template void tensor_panels::gather<double>(const part&, double*, thread_team&) const;
template void tensor_panels::gather<std::int8_t>(const part&, std::int8_t*, thread_team&) const;

tensor_shape shape_of_result(const convolution_problem& p) noexcept {
  const placed_tensor& t = p.computed();
  tensor_shape s{.rank = 2 + windows::most_spatial};
  const std::int64_t* spatial = p.window;
  if (p.result == computed_tensor::dfilters) {
    s.extents[0] = p.groups * p.filters_of_group, s.extents[1] = p.channels_of_group;
  } else {
    const bool is_y = p.result == computed_tensor::y;
    spatial = is_y ? p.out : p.in;
    s.extents[0] = p.images,
    s.extents[1] = p.groups * (is_y ? p.filters_of_group : p.channels_of_group) / (p.paired ? 2 : 1);
  }
  s.strides[0] = t.item, s.strides[1] = t.channel;
  for (std::size_t i = 0; i < windows::most_spatial; ++i)
    s.extents[2 + i] = spatial[i], s.strides[2 + i] = t.spatial[i];
  return s;
}

void store_image(const std::byte* from, const convolution_problem& p, std::int64_t which, thread_team& team) {
  const placed_tensor& t = p.computed();
  const tensor_shape s = shape_of_result(p);
  const std::int64_t channels = s.extents[1], positions = s.extents[2] * s.extents[3] * s.extents[4];
  const std::size_t bytes = bytes_of(t.type);
  team.spread(positions, 256, [&](std::int64_t q) {
    const std::int64_t at = spatial_offset(t, &s.extents[2], q);
    const std::byte* const line = from + q * channels * static_cast<std::int64_t>(bytes);
    for (std::int64_t c = 0; c < channels; ++c)
      std::memcpy(bytes_at(t, which * t.item + c * t.channel + at), line + c * static_cast<std::int64_t>(bytes), bytes);
  });
}

void store_filters(const std::byte* from, const convolution_problem& p, const filter_order& o, thread_team& team) {
  const placed_tensor& t = p.filters;
  const auto elements = elements_of_filter(shape_of_result(p), o);
  const std::size_t bytes = bytes_of(t.type);
  team.spread(p.groups * p.filters_of_group, 1, [&](std::int64_t k) {
    const std::byte* at = from + k * static_cast<std::int64_t>(elements.size() * bytes);
    for (const auto& [channel, position] : elements) {
      std::memcpy(bytes_at(t, k * t.item + channel * t.channel + spatial_offset(t, p.window, position)), at, bytes);
      at += bytes;
    }
  });
}

std::vector<filter_element> elements_of_filter(const tensor_shape& filters, const filter_order& o) {
  std::size_t count = 1;
  for (std::size_t i = 0; i < o.count; ++i) count *= static_cast<std::size_t>(filters.extents[o.axis[i]]);
  std::vector<filter_element> out(count);
  std::array<std::int64_t, tensor_shape::max_rank> at{};
  for (filter_element& e : out) {
    e = {at[1], (at[2] * filters.extents[3] + at[3]) * filters.extents[4] + at[4]};
    for (std::size_t i = o.count; i-- > 0;) {
      if (++at[o.axis[i]] < filters.extents[o.axis[i]]) break;
      at[o.axis[i]] = 0;
    }
  }
  return out;
}

template <class T>
void pack_filters(const convolution_problem& p, const tensor_panels& panels, T* to, thread_team& team) {
  const bool backward = p.result == computed_tensor::dx;
  // Lines are filters and terms their channels; backward, lines are channels and terms filters.
  const std::int64_t lines = backward ? p.channels_of_group : p.filters_of_group,
                     channels = backward ? p.filters_of_group : p.channels_of_group;
  const std::int64_t line_stride = backward ? p.filters.channel : p.filters.item,
                     stride = backward ? p.filters.item : p.filters.channel;
  team.spread(p.groups * lines, 1, [&](std::int64_t l) {
    T* const line = to + l * panels.k();
    const std::int64_t group = l / lines * p.filters_of_group * p.filters.item, begin = group + l % lines * line_stride;
    std::array<T, 256> buffer;
    for (std::int64_t f = 0; f < p.window_size(); ++f)
      for (std::int64_t c = 0; c < channels;) {
        const std::int64_t n = std::min<std::int64_t>(channels - c, std::ssize(buffer));
        read_run(p.filters.type, bytes_at(p.filters, begin + c * stride + spatial_offset(p.filters, p.window, f)),
                 stride, buffer.data(), n);
        for (std::int64_t i = 0; i < n; ++i) line[panels.k_of(c + i, f)] = buffer[static_cast<std::size_t>(i)];
        c += n;
      }
  });
}

template void pack_filters<float>(const convolution_problem&, const tensor_panels&, float*, thread_team&);
template void pack_filters<double>(const convolution_problem&, const tensor_panels&, double*, thread_team&);
template void pack_filters<std::int8_t>(const convolution_problem&, const tensor_panels&, std::int8_t*, thread_team&);

}  // namespace troupe::cutlass::host

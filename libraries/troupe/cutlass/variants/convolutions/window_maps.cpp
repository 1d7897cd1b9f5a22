// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <troupe/base/text/cat.hpp>
#include <troupe/cutlass/variants/convolutions/window_maps.hpp>

namespace troupe::cutlass {
namespace {

constexpr std::int64_t least_stride = 16;
constexpr std::int64_t most_stride = (std::int64_t{1} << 40) - 1;
constexpr int most_step = 8;

std::int64_t depth_of(dtype t) noexcept { return 128 / static_cast<std::int64_t>(bytes_of(t)); }
std::int64_t product_of(const int (&n)[3]) noexcept { return std::int64_t{n[0]} * n[1] * n[2]; }

bool is_gradient_of_filters(convolution_kind c) noexcept { return c == convolution_kind::weight_gradient; }
const factor& image_of(const convolution_product& x, convolution_kind c) noexcept {
  return is_gradient_of_filters(c) ? x.product.b : x.product.a;
}

// Offsets of the first window from the image's first position and of the last window from its last position, along an
// axis. A window begins at the lowest position that an element of the filter reads.
struct corner {
  int lower, upper;
};
corner corner_of(const kernels::convolution_arguments& w, std::size_t j) noexcept {
  const int lower = w.first[j] + std::min(0, w.per_tap[j] * (w.taps[j] - 1));
  return {lower, lower + (w.positions[j] - 1) * w.per_position[j] - (w.image[j] - 1)};
}

// Limits of a map's fields: the range of corners, and the largest offset between elements of a filter.
struct im2col_limits {
  int lowest, highest, farthest;
};
im2col_limits limits_of(int rank) noexcept {
  if (rank == 1) return {-32768, 32767, 65535};
  if (rank == 2) return {-128, 127, 255};
  return {-16, 15, 31};
}

std::string why_not_gathered(const convolution_product& x, const convolution_signature& f) {
  const kernels::convolution_arguments& w = x.arguments;
  const problem& p = x.product;
  const factor& image = image_of(x, f.convolution);
  const im2col_limits r = limits_of(f.rank);
  const auto bytes = static_cast<std::int64_t>(bytes_of(image.type));
  for (std::size_t j = 0; j < f.rank; ++j) {
    const corner c = corner_of(w, j);
    if (std::min(c.lower, c.upper) < r.lowest || std::max(c.lower, c.upper) > r.highest)
      return cat("windows begin ", c.lower, " and end ", c.upper, " positions from an edge of the image; expected ",
                 r.lowest, " to ", r.highest);
    const int far = std::abs(w.per_tap[j]) * (w.taps[j] - 1);
    if (far > r.farthest)
      return cat("filters span ", far + 1, " elements of the image along an axis; expected at most ", r.farthest + 1);
    if (w.per_position[j] > most_step)
      return cat("windows move by ", w.per_position[j], " positions; expected at most ", most_step);
  }
  for (const std::int64_t s : w.image_strides)
    if (s < 0 || s * bytes > most_stride)
      return cat("a stride of the image is ", s * bytes, " bytes; expected 0 to ", most_stride);
  for (const std::int64_t s : w.other_strides)
    if (s < 0 || s * bytes > most_stride)
      return cat("a stride of the other factor is ", s * bytes, " bytes; expected 0 to ", most_stride);
  const bool groups = p.batch > 1 && w.by_images == 0;
  if (is_gradient_of_filters(f.convolution)) {
    constexpr std::int64_t most_channels = 64 * 65535;
    if (p.batch * w.channels > most_channels)
      return cat("images have ", p.batch * w.channels, " channels; expected at most ", most_channels);
    if (w.channels % 64 != 0) return cat("the image has ", w.channels, " channels; expected a multiple of 64");
    if (p.a.term <= 0) return "expected one stride between the positions of dy";
  } else if (groups) {
    if (w.channels % depth_of(image.type) != 0)
      return cat("groups have ", w.channels, " channels; expected a multiple of ", depth_of(image.type));
    if (w.items_of_group == 0) return "expected a stride of groups that is a multiple of the stride of filters";
  }
  return {};
}

// Sets the strides of a map. The accelerator takes no stride of 0. An axis with stride 0 has extent 1, so it gets
// another stride.
void set_strides(window_map& m, std::initializer_list<std::int64_t> elements) noexcept {
  const auto bytes = static_cast<std::int64_t>(bytes_of(m.type));
  std::int64_t before = least_stride;
  std::size_t i = 0;
  for (const std::int64_t s : elements) {
    if (i + 1 == m.rank) break;
    before = s > 0 ? s * bytes : before;
    m.strides[i++] = static_cast<std::uint64_t>(before);
  }
}

window_map image_map(const convolution_product& x, const hopper_variant& c) noexcept {
  const kernels::convolution_arguments& w = x.arguments;
  const problem& p = x.product;
  const bool filters = is_gradient_of_filters(c.convolution);
  const factor& image = image_of(x, c.convolution);
  window_map m{.type = image.type, .address = image.address, .gathers = true};
  m.rank = static_cast<std::uint32_t>(c.rank) + 2;
  const std::int64_t groups = w.by_images != 0 ? 1 : p.batch,
                     images = w.by_images != 0 ? p.batch : (filters ? p.k : p.m) / product_of(w.positions);
  m.extents[0] = static_cast<std::uint64_t>((groups - 1) * image.batch + w.channels);
  const auto rank = static_cast<std::size_t>(c.rank);
  for (std::size_t j = 0; j < rank; ++j) {
    const corner edges = corner_of(w, j);
    m.extents[j + 1] = static_cast<std::uint64_t>(w.image[j]);
    m.lower[j] = edges.lower, m.upper[j] = edges.upper;
    m.steps[j + 1] = static_cast<std::uint32_t>(w.per_position[j]);
  }
  m.extents[rank + 1] = static_cast<std::uint64_t>(images);
  const auto& s = w.image_strides;
  if (rank == 1) set_strides(m, {s[0], s[3]});
  if (rank == 2) set_strides(m, {s[0], s[1], s[3]});
  if (rank == 3) set_strides(m, {s[0], s[1], s[2], s[3]});
  m.channels = static_cast<std::uint32_t>(depth_of(c));
  m.items = static_cast<std::uint32_t>(filters ? depth_of(c) : c.tile_m / c.cluster_n);
  return m;
}

window_map filter_map(const convolution_product& x, const hopper_variant& c) noexcept {
  const kernels::convolution_arguments& w = x.arguments;
  const problem& p = x.product;
  const bool forward = c.convolution == convolution_kind::forward;
  window_map m{.type = p.b.type, .address = p.b.address, .rank = window_map::most};
  const std::int64_t others = w.by_images != 0 ? 0 : (p.batch - 1) * w.items_of_group;
  m.extents[0] = static_cast<std::uint64_t>(forward ? w.channels : p.n);
  for (std::size_t j = 0; j < 3; ++j) m.extents[j + 1] = static_cast<std::uint64_t>(w.taps[j]);
  m.extents[4] = static_cast<std::uint64_t>(others + (forward ? p.n : w.channels));
  const auto& s = w.other_strides;
  set_strides(m, {s[1], s[2], s[3], s[0]});
  m.channels = static_cast<std::uint32_t>(depth_of(c));
  m.items = static_cast<std::uint32_t>(forward ? c.tile_n / c.cluster_m : depth_of(c));
  return m;
}

}  // namespace

std::string why_not_gathered(const convolution_work& w) {
  for (const convolution_product& x : w.products)
    if (std::string reason = why_not_gathered(x, w.signature); !reason.empty())
      return "the template for Hopper cannot gather this: " + reason;
  return {};
}

problem product_as_copied(const convolution_product& x, const convolution_signature& f, const plan& p) {
  problem out = x.product;
  if (p.family != family::hopper || f.convolution == convolution_kind::none || is_gradient_of_filters(f.convolution))
    return out;
  const std::int64_t depth = depth_of(x.product.a.type), channels = x.arguments.channels;
  out.k = out.k / channels * ((channels + depth - 1) / depth * depth);
  return out;
}

window_maps maps_of(const convolution_product& x, const hopper_variant& c) {
  window_maps out;
  out.image = image_map(x, c);
  if (!is_gradient_of_filters(c.convolution)) out.filters = filter_map(x, c);
  return out;
}

}  // namespace troupe::cutlass

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <troupe/dnn/operations/resampling/attributes.hpp>
#include <troupe/dnn/testing/reference/definitions.hpp>
#include <vector>

namespace troupe::dnn::detail {
namespace {

// An index along one axis of an image, and the weight of the element at that index.
struct weighted_index {
  std::int64_t at;
  double weight;
};

double cubic(double distance) noexcept {
  constexpr double a = -0.75;
  const double d = std::fabs(distance);
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? a * (((d - 5) * d + 8) * d - 4) : 0;
}

// Returns the elements of the input from which output element `o` is interpolated along an axis. `in` and `out` are the
// extents.
std::vector<weighted_index> sources_of(const resampling_attributes& a, std::int64_t o, std::int64_t in,
                                       std::int64_t out) {
  const auto on_image = [&](double at) { return std::clamp<std::int64_t>(static_cast<std::int64_t>(at), 0, in - 1); };
  // The position is a quotient, because a rounded one would have another nearest element.
  double above = 0, divisor = 1;
  const auto i = static_cast<double>(o), from = static_cast<double>(in), to = static_cast<double>(out);
  switch (a.coordinates) {
    case resampling_coordinates::align_corners:
      if (out > 1) above = i * (from - 1), divisor = to - 1;
      break;
    case resampling_coordinates::asymmetric:
      above = i * from, divisor = to;
      break;
    case resampling_coordinates::pytorch_half_pixel:
      if (out == 1) break;
      [[fallthrough]];
    case resampling_coordinates::half_pixel:
      above = (2 * i + 1) * from - to, divisor = 2 * to;
  }
  const double position = above / divisor;
  if (a.taps == 1) switch (a.rounding) {
      case nearest_rounding::floor:
        return {{on_image(std::floor(position)), 1}};
      case nearest_rounding::ceil:
        return {{on_image(std::ceil(position)), 1}};
      case nearest_rounding::round_prefer_ceil:
        return {{on_image(std::floor((2 * above + divisor) / (2 * divisor))), 1}};
      case nearest_rounding::round_prefer_floor:
        return {{on_image(std::ceil((2 * above - divisor) / (2 * divisor))), 1}};
    }
  const double below = std::floor(position), rest = position - below;
  if (a.taps == 2) return {{on_image(below), 1 - rest}, {on_image(below + 1), rest}};
  std::vector<weighted_index> all;
  for (int k = -1; k <= 2; ++k) all.push_back({on_image(below + k), cubic(rest - k)});
  return all;
}

// Calls `use(y index, x index, weight)` for each pair of elements of y and x of which the former is interpolated from
// the latter.
template <class Use>
void for_each_source(const resampling_attributes& a, const tensor_shape& x, const tensor_shape& y, Use use) {
  for_each_index(y, [&](const tensor_index& out) {
    std::vector<std::vector<weighted_index>> along(x.rank);
    tensor_shape combinations{.rank = x.rank, .extents = {1, 1}};
    for (std::size_t i = 2; i < x.rank; ++i) {
      along[i] = sources_of(a, out[i], x.extents[i], y.extents[i]);
      combinations.extents[i] = static_cast<std::int64_t>(along[i].size());
    }
    for_each_index(combinations, [&](const tensor_index& which) {
      tensor_index image{out[0], out[1]};
      double weight = 1;
      for (std::size_t i = 2; i < x.rank; ++i) {
        const weighted_index& p = along[i][static_cast<std::size_t>(which[i])];
        image[i] = p.at, weight *= p.weight;
      }
      use(out, std::as_const(image), weight);
    });
  });
}

}  // namespace

void resample(const resampling_attributes& a, inputs in, outputs out) {
  const input_values x = in[0];
  const output_values y = out[0];
  for_each_source(a, x.shape, y.shape, [&](auto& out, auto& image, double weight) { y[out] += weight * x[image]; });
}

void find_resampling_gradient(const resampling_attributes& a, inputs in, outputs out) {
  const input_values dy = in[0];
  const output_values dx = out[0];
  for_each_source(a, dx.shape, dy.shape, [&](auto& out, auto& image, double weight) { dx[image] += weight * dy[out]; });
}

}  // namespace troupe::dnn::detail

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cutlass/variants/convolutions/convolution_candidates.hpp>
#include <troupe/cutlass/variants/testing/kinds.hpp>
#include <vector>

/// The rows and columns of the table in docs/cutlass-convolutions.md, for the tests that compare the table and
/// compile its kernels.
namespace troupe::cutlass::testing {

/// Returns the kinds that convolutions have.
inline std::vector<kind> kinds_of_convolutions() {
  std::vector<kind> out;
  for (const kind& k : kinds)
    if (k.b != dtype::f4e2m1x2 && (k.terms == 0 || k.a != k.b)) out.push_back(k);
  return out;
}

/// A convolution of 64 images of 28 x 28 with 64 channels, and 128 filters of 3 x 3. If `large`, height and width are
/// twice, channels and filters four times as large, and larger tiles are chosen. If not `has_contiguous_channels`,
/// positions are contiguous.
struct layer {
  bool has_contiguous_channels = true;
  std::int64_t stride = 1;
  dtype computed = dtype::bf16;  ///< type of the result
  bool large = false;
};
/// Returns the problem of a layer. The first factor is x or dy, the second the filters or x.
inline convolution_problem problem_of(const kind& k, computed_tensor r, const layer& l, const epilogue::tree& tree) {
  constexpr std::int64_t width = 3;
  const std::int64_t side = l.large ? 56 : 28, in = l.large ? 256 : 64, out = 2 * in;
  const std::int64_t side_of_y = (side + l.stride - 1) / l.stride;
  convolution_problem p;
  p.result = r, p.images = 64, p.channels_of_group = in, p.filters_of_group = out, p.sums = sums_of(k.a, k.b),
  p.options.precision = k.how;
  for (const std::size_t i : {1, 2}) p.set(i, side, side_of_y, width, {1, 1, l.stride, 1});
  const auto placed = [&l](dtype t, std::int64_t channels, std::int64_t extent) {
    const std::int64_t item = extent * extent * channels;
    return l.has_contiguous_channels ? placed_tensor{1 << 20, t, item, 1, {0, extent * channels, channels}}
                                     : placed_tensor{1 << 20, t, item, extent * extent, {0, extent, 1}};
  };
  const auto types = windows::convolution_roles<dtype>::of(r, k.a, k.b, l.computed);
  p.x = placed(types.image, in, side), p.filters = placed(types.filters, in, width);
  p.y = placed(types.result, out, side_of_y);
  p.tree = tree;
  return p;
}

}  // namespace troupe::cutlass::testing

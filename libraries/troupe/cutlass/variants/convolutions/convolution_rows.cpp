// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/cutlass/variants/convolutions/convolution_epilogues.hpp>
#include <troupe/cutlass/variants/convolutions/convolution_rows.hpp>

namespace troupe::cutlass {
namespace {

constexpr std::size_t last = windows::most_spatial - 1;  // index of the width in the request's order

std::int64_t up(std::int64_t x, std::int64_t unit) noexcept { return (x + unit - 1) / unit * unit; }

// Returns the channels of a pixel in memory for which windows begin at multiples of 16 bytes.
std::int64_t channels_in_memory(const convolution_problem& p) noexcept {
  std::int64_t channels = p.channels_of_group;
  while (channels * p.stride[last] * size_of(p.x.type) % 16 != 0) ++channels;
  return channels;
}
// Bytes of a line in a stage, which is one element of the filter.
constexpr std::int64_t stage_bytes = 128;

}  // namespace

bool has_rows_as_channels(const convolution_problem& p) {
  const windows::geometry& w = p;
  if (p.result == computed_tensor::dx || p.groups != 1 || w.window[last] < 2 || w.dilation[last] != 1) return false;
  const std::int64_t channels = channels_in_memory(p);
  if (p.channels_of_group * size_of(p.x.type) % 16 == 0 || channels * w.window[last] * size_of(p.x.type) > stage_bytes)
    return false;
  // The product for dfilters has additional columns that are discarded, so no operand of the epilogue may have columns.
  return p.result == computed_tensor::y || (!epilogue_plan_of(p).is_separate && p.tree.memory().empty());
}

convolution_of_rows rows_as_channels(const convolution_problem& p, std::uint64_t memory) {
  convolution_of_rows out{.problem = p};
  convolution_problem& q = out.problem;
  const windows::geometry& w = p;
  memory_pieces pieces{memory};
  const bool forward = p.result == computed_tensor::y;
  const std::int64_t pixel = channels_in_memory(p),
                     row = up(w.window[last] * pixel, (forward ? 16 : stage_bytes) / size_of(p.x.type)),
                     taps = up(row, pixel) / pixel, width = (w.out[last] - 1) * w.stride[last] + taps;

  // The copied image is padded with zeros. A window's row may end between two pixels, but never beyond the image's row.
  convolution_problem for_y = p;
  for_y.result = computed_tensor::y;  // so that image_of returns x
  const grouped_tensor x = image_of(for_y);
  grouped_tensor padded = x;
  padded.channels = pixel, padded.spatial_extents[0] = width;
  padded = in_order(padded, pieces.take(p.images * pixel * width * x.spatial_extents[1] * x.spatial_extents[2], x.type),
                    false);
  tensor_copy image = copy_of(x, padded);
  tensor_copy::copied_axis& along_row = image.axes[1];
  along_row.zeros_before = w.padding_before[last];
  along_row.inside = std::clamp<std::int64_t>(width - w.padding_before[last], 0, x.spatial_extents[0]);
  out.before.push_back(image);
  q.x = {padded.address,
         x.type,
         padded.item,
         1,
         {padded.spatial_strides[2], padded.spatial_strides[1], w.stride[last] * pixel}};

  // Filters whose rows have as many elements as the windows' rows; the additional elements are 0.
  grouped_tensor filters = filters_of(p), rows = filters;
  rows.channels = row, rows.spatial_extents[0] = 1;
  rows = in_order(
      rows,
      pieces.take(p.filters_of_group * row * filters.spatial_extents[1] * filters.spatial_extents[2], filters.type),
      false);
  grouped_tensor elements = rows;
  elements.channels = pixel, elements.spatial_extents[0] = row / pixel, elements.spatial_strides[0] = pixel;
  if (forward)
    out.before.push_back(copy_of(filters, elements));
  else
    out.after.push_back(copy_of(elements, filters));
  q.filters = {rows.address, filters.type, rows.item, 1, {rows.spatial_strides[2], rows.spatial_strides[1], 0}};

  q.channels_of_group = row;
  q.in[last] = w.out[last], q.window[last] = 1, q.padding_before[last] = 0, q.stride[last] = 1;
  out.bytes = pieces.next - memory;
  return out;
}

}  // namespace troupe::cutlass

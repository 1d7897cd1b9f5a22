// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/graph/node_maker.hpp>
#include <troupe/dnn/operations/blocks/attributes.hpp>
#include <troupe/dnn/operations/blocks/blocks.hpp>

namespace troupe::dnn {
namespace {

using detail::node_maker;
using extents = std::array<std::int64_t, tensor_shape::max_rank>;

// Checks the division into blocks, and sets the extents of the scales. Returns m.fine().
bool find_blocks(node_maker& m, const value& x, std::size_t along, std::int64_t block, extents& scales) {
  if (!m.fine()) return false;
  if (along >= x.rank()) m.refuse("axis", cat("is ", along), cat("less than ", x.rank()));
  if (block < 1) m.refuse("block", cat("is ", block), "at least 1");
  if (!m.fine()) return false;
  std::copy(x.extents().begin(), x.extents().end(), scales.begin());
  const std::int64_t length = x.extents()[along];
  scales[along] = length == 0 ? 0 : (length - 1) / block + 1;
  return true;
}

}  // namespace

block_scaled quantize_blocks(const value& x, const block_options& o) {
  node_maker m(op::block_quantization, "block_quantization", {x});
  m.has_rank("x", x, 1, tensor_shape::max_rank);
  if (o.elements == dtype::f4e2m1x2)
    m.refuse("type of elements", "is f4e2m1x2", "one number in each element: f8e4m3, f8e5m2 or f4e2m1");
  else if (o.elements != dtype::f8e4m3 && o.elements != dtype::f8e5m2 && o.elements != dtype::f4e2m1)
    m.refuse("type of elements", cat("is ", to_string(o.elements)), "f8e4m3, f8e5m2 or f4e2m1");
  if (o.scales != dtype::f8e8m0 && o.scales != dtype::f8e4m3 && o.scales != dtype::f32)
    m.refuse("type of scales", cat("is ", to_string(o.scales)), "f8e8m0, f8e4m3 or f32");
  extents e{};
  if (find_blocks(m, x, o.along, o.block, e)) {
    m.with(block_attributes{static_cast<std::int64_t>(o.along), o.block, o.elements, o.scales, {}});
    m.add_output(o.elements, x.extents());
    m.add_output(o.scales, std::span<const std::int64_t>(e.data(), x.rank()));
  }
  const auto all = m.all(2);
  return {all[0], all[1]};
}

value dequantize_blocks(const value& elements, const value& scales, std::size_t along, std::int64_t block) {
  node_maker m(op::block_dequantization, "block_dequantization", {elements, scales});
  m.has_rank("elements", elements, 1, tensor_shape::max_rank);
  extents e{};
  if (find_blocks(m, elements, along, block, e)) {
    const std::span<const std::int64_t> expected(e.data(), elements.rank());
    if (!std::equal(scales.extents().begin(), scales.extents().end(), expected.begin(), expected.end()))
      m.refuse_extents("scales", scales, cat(node_maker::text_of(expected), ", one for each block"));
    m.with(block_attributes{static_cast<std::int64_t>(along), block, elements.type(), scales.type(), {}});
    m.add_output(detail::floating_type({elements, scales}), elements.extents());
  }
  return m.done();
}

}  // namespace troupe::dnn

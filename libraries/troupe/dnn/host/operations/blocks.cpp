// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <limits>
#include <troupe/base/processor/for_each_processor.hpp>
#include <troupe/dnn/host/operations/compute_functions.hpp>
#include <troupe/dnn/operations/blocks/attributes.hpp>
#include <troupe/dnn/operations/blocks/block_scaling.hpp>
#include <type_traits>

namespace troupe::dnn::host {
namespace {

// `width` adjacent blocks, each of `length` elements along the axis. `stride` is the stride of the axis.
template <class N>
struct blocks_of {
  const N* from;
  N* to;
  std::int64_t length, width, stride;
};

// The bits of magnitudes as integers: they have the order of the magnitudes, and NaN is the largest.
template <class N>
using bits_of = std::conditional_t<sizeof(N) == sizeof(float), std::int32_t, std::int64_t>;
template <class N>
TROUPE_INLINE bits_of<N> magnitude_bits(N x) noexcept {
  return std::bit_cast<bits_of<N>>(x) & std::numeric_limits<bits_of<N>>::max();
}
template <class N>
TROUPE_INLINE void find_largest(const blocks_of<N>& b, N* largest) noexcept {
  if (b.stride == 1) {
    bits_of<N> most = 0;
    for (std::int64_t i = 0; i < b.length; ++i) most = std::max(most, magnitude_bits(b.from[i]));
    *largest = std::bit_cast<N>(most);
    return;
  }
  std::fill_n(largest, b.width, N(0));
  for (std::int64_t i = 0; i < b.length; ++i)
    for (std::int64_t k = 0; k < b.width; ++k)
      largest[k] =
          std::bit_cast<N>(std::max(std::bit_cast<bits_of<N>>(largest[k]), magnitude_bits(b.from[i * b.stride + k])));
}
template <class N>
TROUPE_INLINE void scale_here(const blocks_of<N>& b, const narrow_type& t, const N* scales) noexcept {
  if (b.stride == 1) {
    const double scale = static_cast<double>(*scales);
    for (std::int64_t i = 0; i < b.length; ++i)
      b.to[i] = static_cast<N>(scaled_element(static_cast<double>(b.from[i]), scale, t));
    return;
  }
  for (std::int64_t i = 0; i < b.length; ++i)
    for (std::int64_t k = 0; k < b.width; ++k)
      b.to[i * b.stride + k] = static_cast<N>(
          scaled_element(static_cast<double>(b.from[i * b.stride + k]), static_cast<double>(scales[k]), t));
}
template <class N>
TROUPE_INLINE void unscale_here(const blocks_of<N>& b, const N* scales) noexcept {
  for (std::int64_t i = 0; i < b.length; ++i)
    for (std::int64_t k = 0; k < b.width; ++k) b.to[i * b.stride + k] = b.from[i * b.stride + k] * scales[k];
}

template <class N>
TROUPE_INLINE void quantize_here(const blocks_of<N>& b, const block_attributes& a, N* scales) noexcept {
  const narrow_type t = narrow_type_of(a.elements);
  find_largest(b, scales);
  for (std::int64_t k = 0; k < b.width; ++k)
    scales[k] = static_cast<N>(scale_of_block(static_cast<double>(scales[k]), t, a.scales));
  scale_here(b, t, scales);
}

// Functions that are compiled for several kinds of processor; templates cannot be.
#define TROUPE_DNN_BLOCKS(N)                                                                                           \
  TROUPE_FOR_EACH_PROCESSOR                                                                                            \
  void quantize(const blocks_of<N>& b, const block_attributes& a, N* scales) noexcept { quantize_here(b, a, scales); } \
  TROUPE_FOR_EACH_PROCESSOR                                                                                            \
  void dequantize(const blocks_of<N>& b, const N* scales) noexcept { unscale_here(b, scales); }
TROUPE_DNN_BLOCKS(float)
TROUPE_DNN_BLOCKS(double)
#undef TROUPE_DNN_BLOCKS

// Calls `f(blocks, index of the first scale)` for each row of adjacent blocks.
template <class N, class F>
void for_each_row(const execution_context& on, const block_attributes& attributes, const location& from,
                  const location& to, F f) {
  constexpr std::int64_t part_size = 1 << 14;
  const tensor_shape& s = from.shape;
  const auto along = static_cast<std::size_t>(attributes.along);
  std::int64_t width = 1;
  for (std::size_t i = along + 1; i < s.rank; ++i) width *= s.extents[i];
  const std::int64_t length = s.extents[along], blocks = (length - 1) / attributes.block + 1,
                     rows = elements_of(s) / length / width * blocks;
  const N* const x = on.elements<N>(from);
  N* const y = on.elements<N>(to);
  const std::int64_t of_a_row = std::min(attributes.block, length) * width;
  on.team.spread(rows, std::max<std::int64_t>(1, part_size / of_a_row), [&](std::int64_t r) {
    const std::int64_t first = r % blocks * attributes.block, at = (r / blocks * length + first) * width;
    f(blocks_of<N>{x + at, y + at, std::min(attributes.block, length - first), width, width}, r * width);
  });
}

}  // namespace

template <class N>
void quantize_blocks(const execution_context& on, const operator_step& step) {
  const auto a = step.attributes.as<block_attributes>();
  const location &x = step.inputs[0], &elements = step.outputs[0], &scales = step.outputs[1];
  N* const to = on.elements<N>(scales);
  for_each_row<N>(on, a, x, elements, [&](const blocks_of<N>& b, std::int64_t first) { quantize(b, a, to + first); });
}

template <class N>
void dequantize_blocks(const execution_context& on, const operator_step& step) {
  const auto a = step.attributes.as<block_attributes>();
  const location &elements = step.inputs[0], &scales = step.inputs[1], &y = step.outputs[0];
  const N* const by = on.elements<N>(scales);
  for_each_row<N>(on, a, elements, y, [&](const blocks_of<N>& b, std::int64_t first) { dequantize(b, by + first); });
}

TROUPE_HOST_STEP(quantize_blocks);
TROUPE_HOST_STEP(dequantize_blocks);

}  // namespace troupe::dnn::host

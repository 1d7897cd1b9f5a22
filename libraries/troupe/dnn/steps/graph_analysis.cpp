// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/dnn/steps/graph_analysis.hpp>

namespace troupe::dnn {

tensor_shape with_dense_strides(tensor_shape s, bool channels_last) noexcept {
  s.strides = dense_strides(s);
  if (!channels_last) return s;
  std::int64_t stride = s.extents[1];
  s.strides[1] = 1;
  for (std::size_t i = s.rank; i-- > 2; stride *= s.extents[i]) s.strides[i] = stride;
  s.strides[0] = stride;
  return s;
}

fusion_match::tensor graph_analysis::dense_operand(std::uint16_t t, dtype type, bool channels_last) const noexcept {
  const encoded_tensor& of = tensor(t);
  const bool is_unaligned = of.where == encoded_tensor::place::memory && !aligned[of.memory];
  return {t, type, with_dense_strides(of.shape, channels_last), is_unaligned};
}

bool is_per_channel(const tensor_shape& s, const tensor_shape& image) noexcept {
  if (s.rank != image.rank) return false;
  for (std::size_t i = 0; i < s.rank; ++i)
    if (s.extents[i] != (i == 1 ? image.extents[1] : 1)) return false;
  return true;
}

std::uint16_t position_of(const fusion_match& match, const def_use& uses) noexcept {
  std::size_t begin = 0;
  for (const fusion_match::tensor& t : match.inputs)
    if (const auto source = uses.source_of(t.number)) begin = std::max(begin, *source + 1);
  return *std::find_if(match.nodes.begin(), match.nodes.end(), [&](std::uint16_t n) { return n >= begin; });
}

}  // namespace troupe::dnn

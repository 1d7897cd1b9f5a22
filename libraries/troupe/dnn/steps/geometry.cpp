// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/dnn/operations/indexing/attributes.hpp>
#include <troupe/dnn/steps/geometry.hpp>

namespace troupe::dnn {

tensor_shape grouped(const tensor_shape& s, std::int64_t channels, std::int64_t groups) noexcept {
  if (groups <= 1) return s;
  tensor_shape out{.rank = s.rank + 1};
  for (std::size_t i = 0; i < s.rank; ++i)
    out.extents[i < 2 ? i : i + 1] = s.extents[i], out.strides[i < 2 ? i : i + 1] = s.strides[i];
  const bool has_channels = s.extents[1] == channels;
  const std::int64_t of_group = has_channels ? channels / groups : 1;
  out.extents[1] = s.extents[1] == 1 ? 1 : groups;
  out.extents[2] = of_group;
  out.strides[1] = s.strides[1] * of_group, out.strides[2] = s.strides[1];
  return out;
}

location positions_of(const encoded_node& n, const tensor_shape& of) noexcept {
  location out{.number = no_tensor, .type = dtype::f32, .shape = of};
  out.shape.strides = {};
  if (n.what == op::iota)
    out.shape.strides[static_cast<std::size_t>(n.attributes.as<iota_attributes>().along)] = 1;
  else
    out.shape.strides = dense_strides(of);
  return out;
}

}  // namespace troupe::dnn

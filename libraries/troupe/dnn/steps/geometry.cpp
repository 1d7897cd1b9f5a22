// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/dnn/steps/geometry.hpp>

namespace troupe::dnn {

tensor_shape grouped(const tensor_shape& s, std::int64_t groups, bool statistics) noexcept {
  if (groups <= 1) return s;
  tensor_shape out{.rank = s.rank + 1};
  for (std::size_t i = 0; i < s.rank; ++i) out.extents[i < 2 ? i : i + 1] = s.extents[i];
  const bool one = s.extents[1] == 1 && !statistics;  // one element for all channels
  out.extents[1] = one ? 1 : groups;
  out.extents[2] = statistics || one ? 1 : s.extents[1] / groups;
  out.strides = dense_strides(out);
  return out;
}

}  // namespace troupe::dnn

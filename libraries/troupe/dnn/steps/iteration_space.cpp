// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/dnn/steps/iteration_space.hpp>

namespace troupe::dnn {

iteration_space::iteration_space(std::size_t rank, const axis_values& extents, std::vector<axis_values> strides,
                                 bool reorder) {
  std::array<std::size_t, tensor_shape::max_rank> order{};
  std::size_t count = 0;
  for (std::size_t i = 0; i < rank; ++i) {
    if (extents[i] == 1) continue;
    std::size_t at = count++;
    for (; reorder && at > 0 && strides[0][order[at - 1]] < strides[0][i]; --at) order[at] = order[at - 1];
    order[at] = i;
  }
  strides_.resize(strides.size());
  rank_ = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t i = order[k];
    const bool joins = rank_ > 0 && [&] {
      for (std::size_t o = 0; o < strides.size(); ++o)
        if (strides_[o][rank_ - 1] != strides[o][i] * extents[i]) return false;
      return true;
    }();
    if (!joins) extents_[rank_++] = 1;
    extents_[rank_ - 1] *= extents[i];
    for (std::size_t o = 0; o < strides.size(); ++o) strides_[o][rank_ - 1] = strides[o][i];
  }
  if (rank_ == 0) rank_ = 1, extents_[0] = 1;
  for (std::size_t i = 0; i + 1 < rank_; ++i) lines_ *= extents_[i];
}

}  // namespace troupe::dnn

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/fft/cuda/places.hpp>

namespace troupe::fft {

kernel_arguments::places in_kernel(const placement& p) {
  const auto number = [](extent e) { return static_cast<std::uint64_t>(e.value()); };
  kernel_arguments::places out{
      {number(p.batch), 1, 1, 1}, {number(p.distance), 0, 0, 0}, number(p.n.count() * p.batch), 0};
  extent dense = 1;
  bool in_order = true;
  for (std::size_t i = p.n.rank(); i-- > 0;) {
    out.n[i + 1] = number(p.n[i]);
    out.step[i + 1] = number(p.stride[i]);
    in_order &= p.n[i] == extent(1) || p.stride[i] == dense;
    dense = dense * p.n[i];
  }
  out.dense = in_order && (p.batch == extent(1) || p.distance == dense) ? 1 : 0;
  return out;
}

bool writes_between_rows(const placement& to) {
  const std::size_t last = to.n.rank() - 1;
  if (to.stride[last] != extent(1)) return false;
  extent step = to.distance;
  for (std::size_t i = 0; i < last; ++i)
    if (to.n[i] != extent(1)) step = to.stride[i];
  return step == padded(to.n)[last];
}

}  // namespace troupe::fft

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/dnn/testing/reference/definitions.hpp>
#include <troupe/dnn/testing/reference/roundings.hpp>

namespace troupe::dnn::detail {

roundings::roundings(const encoded_graph& g, std::uint64_t seed) : random_(seed) {
  // A step is eight rounding errors: engines add a few hundred numbers, and most of the rounding errors cancel.
  constexpr double of_f32 = 0x1p-21, of_f64 = 0x1p-50;
  const bool any_f64 = std::any_of(g.tensors().begin(), g.tensors().end(), [](const encoded_tensor& t) {
    return t.where != encoded_tensor::place::number && t.type == dtype::f64;
  });
  step_ = any_f64 ? of_f64 : of_f32;
}

void roundings::move(std::vector<double>& numbers) {
  for (double& x : numbers) x *= (random_() & 1) != 0 ? 1 + step_ : 1 - step_;
}

bool roundings::adds_up(op o) noexcept { return definitions[o].where == rounding::sums; }

bool roundings::rounds(op o, dtype result) noexcept {
  return definitions[o].where != rounding::none && (result == dtype::f32 || result == dtype::f64);
}

}  // namespace troupe::dnn::detail

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/dnn/testing/reference/roundings.hpp>

namespace troupe::dnn::detail {

roundings::roundings(const encoded_graph& g, std::uint64_t seed) : random_(seed) {
  // Eight rounding errors: engines add a few hundred numbers, and most of the rounding errors cancel.
  constexpr double of_f32 = 0x1p-21, of_f64 = 0x1p-50;
  const bool any_f64 = std::any_of(g.tensors().begin(), g.tensors().end(), [](const encoded_tensor& t) {
    return t.where != encoded_tensor::place::number && t.type == dtype::f64;
  });
  step_ = any_f64 ? of_f64 : of_f32;
}

void roundings::move(std::vector<double>& numbers) {
  for (double& x : numbers) x *= (random_() & 1) != 0 ? 1 + step_ : 1 - step_;
}

bool roundings::adds_up(op o) noexcept {
  switch (o) {
    case op::convolution:
    case op::convolution_data_gradient:
    case op::convolution_weight_gradient:
    case op::product:
    case op::reduction:
    case op::normalization:
    case op::normalization_gradient:
    case op::pooling:
    case op::softmax:
    case op::softmax_gradient:
    case op::attention:
    case op::attention_gradient:
    case op::local_response_norm:
    case op::local_response_norm_gradient:
    case op::resampling:
    case op::resampling_gradient:
    case op::recurrence:
    case op::recurrence_gradient:
    case op::ctc_loss:
    case op::ctc_loss_gradient:
      return true;
    default:
      return false;
  }
}

bool roundings::rounds(op o, dtype result) noexcept {
  const bool copies = o == op::write || o == op::convert || o == op::reshape || o == op::transposition ||
                      o == op::concatenation || o == op::slice;
  return !copies && (result == dtype::f32 || result == dtype::f64);
}

}  // namespace troupe::dnn::detail

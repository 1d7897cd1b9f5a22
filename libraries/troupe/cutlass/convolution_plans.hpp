// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cutlass/convolution.hpp>
#include <troupe/cutlass/prepare.hpp>

namespace troupe::cutlass {

/// The tensor of x, filters and y that is computed from the other two.
enum class convolution_result : std::uint8_t { y = 0, dx = 1, dfilters = 2 };
constexpr bool is_known(convolution_result r) noexcept { return r <= convolution_result::dfilters; }
constexpr std::string_view to_string(convolution_result r) noexcept {
  constexpr std::string_view names[] = {"y", "dx", "dfilters"};
  return is_known(r) ? names[static_cast<std::uint8_t>(r)] : "unknown";
}

/// `prepare` for a convolution or a gradient. `result` is the tensor to compute; dx, dfilters and dy are given as x,
/// filters and y.
///   const auto info = gpu.ask(cutlass::prepare_convolution::of(request)).get();
struct prepare_convolution {
  convolution_result result;
  in_any x, filters, y;
  epilogue::expression epilogue;
  per_axis padding = 0, padding_after = {}, stride = 1, dilation = 1;
  std::int64_t groups = 1;
  product_options options = {};
  std::int32_t measure = 0;                ///< see `prepare`
  std::optional<out<std::byte>> log = {};  ///< see `prepare`
  using reply = plan_info;
  TROUPE_REQUEST("cutlass.prepare_convolution", result, x, filters, y, epilogue, padding, padding_after, stride,
                 dilation, groups, options, measure, log)
  static prepare_convolution of(const conv_forward& r, std::int32_t measure = 0);
  static prepare_convolution of(const conv_data_gradient& r, std::int32_t measure = 0);
  static prepare_convolution of(const conv_weight_gradient& r, std::int32_t measure = 0);
  void check(checker&) const;
};

}  // namespace troupe::cutlass

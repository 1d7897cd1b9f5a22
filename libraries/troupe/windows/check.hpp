// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <troupe/windows/options.hpp>
#include <troupe/windows/roles.hpp>

/// Checks of windows and convolutions. Callers report a refusal with the names of their own fields.
namespace troupe::windows {

/// What is wrong with numbers, such as "is 0", and what is expected instead, such as "at least 1".
struct wrong_numbers {
  std::string is, expected;
};
/// Checks that there is one number for each spatial axis, or one for all axes, and that each is from `least` to 2^31 -
/// 1.
std::optional<wrong_numbers> check_numbers(const per_axis& numbers, std::size_t spatial, std::int64_t least);

/// A field of a convolution.
enum class convolution_field : std::uint8_t {
  image,
  filters,
  result,
  padding,
  padding_after,
  stride,
  dilation,
  groups
};
/// The first field that is wrong, what is wrong with it, and what is expected instead.
struct convolution_refusal {
  convolution_field field;
  std::string is, expected;
};
std::optional<convolution_refusal> check_options(const convolution_options& o, std::size_t spatial);

/// The outcome of the check of a convolution: its first wrong field, or the extents of its y.
struct checked_convolution {
  std::optional<convolution_refusal> refused;
  std::array<std::int64_t, first_spatial + most_spatial> y{};
};
/// Checks a convolution or one of its gradients. `extents` has the extents of all axes; those of a y that is not given
/// have no data, and are not checked. The number of images may be 0; all other extents must be at least 1. Refusals
/// mention other tensors by `names`. `is_paired` is true if an epilogue pairs the channels of the computed y or dx: it
/// has half as many.
checked_convolution check_convolution(computed_tensor what,
                                      const convolution_roles<std::span<const std::int64_t>>& extents,
                                      const convolution_roles<std::string_view>& names, const convolution_options& o,
                                      bool is_paired = false);

/// Returns the options among the fields of a request.
template <class R>
convolution_options options_of(const R& r) noexcept {
  return {.padding = r.padding,
          .padding_after = r.padding_after,
          .stride = r.stride,
          .dilation = r.dilation,
          .groups = r.groups};
}
/// Returns the slide along each spatial axis, from the options of a convolution or pooling. Precondition: the options
/// were checked.
template <class R>
slides slides_of(const R& r, std::size_t spatial) noexcept {
  slides out{};
  const per_axis after = r.padding_after.or_else(r.padding);
  for (std::size_t i = 0; i < spatial; ++i) out[i] = {r.padding[i], after[i], r.stride[i], r.dilation[i]};
  return out;
}

}  // namespace troupe::windows

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

/// What is wrong with a field, such as "is 0", and what is expected instead, such as "at least 1".
struct refusal {
  std::string is, expected;
};
/// Checks that there is one number for each spatial axis, or one for all axes, and that each is from `least` to 2^31 -
/// 1.
std::optional<refusal> check(const per_axis& numbers, std::size_t spatial, std::int64_t least);

/// The fields of a convolution.
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
struct convolution_refusal {
  convolution_field field;
  refusal why;
};
std::optional<convolution_refusal> check(const convolution_options& o, std::size_t spatial);

/// A convolution to check. The number of images may be 0; all other extents must be at least 1.
struct unchecked_convolution {
  convolution_result what;
  /// The extents of all axes. The extents of a result that is not given have no data, and are not checked.
  convolution_roles<std::span<const std::int64_t>> extents;
  convolution_roles<std::string_view> names;  ///< names of the tensors' fields, for refusals that mention them
  const convolution_options& options;
  bool is_paired = false;  ///< true if an epilogue pairs the channels of the computed y or dx: it has half as many
};
struct checked_convolution {
  std::optional<convolution_refusal> refused = {};
  std::array<std::int64_t, first_spatial + most_spatial> result{};  ///< extents of the result, if not refused
};
checked_convolution check(const unchecked_convolution& c);

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

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <span>
#include <troupe/fft/views.hpp>
#include <utility>

/// Transforms of tensors as transforms of buffers.
namespace troupe::fft {

/// One side of a transform.
struct laid_out {
  shape n;
  extent batch;
  layout where;
};

/// The order of the axes of two tensors: those of the batch first, then those of the transform, each group by its
/// strides, so that both tensors may be stored in any order. The last axis of a real side keeps its position.
class index_order {
 public:
  /// Precondition: 1 <= dimensions <= 3, and dimensions <= the rank.
  index_order(const tensor_shape& s, std::size_t dimensions, bool keeps_last) noexcept;

  std::size_t dimensions() const noexcept { return dimensions_; }
  std::span<const std::size_t> all() const noexcept { return std::span(indexes_).first(rank_); }

 private:
  std::array<std::size_t, tensor_shape::max_rank> indexes_{};
  std::size_t rank_, dimensions_;
};

/// Returns nothing if one stride and one distance cannot reach the elements.
std::optional<laid_out> lay_out(const tensor_shape& s, const index_order& order) noexcept;

/// Returns the order of axes for both sides of a request.
template <class R>
index_order order_of(const R& r) noexcept {
  const tensor_shape& s = r.input.shape();
  constexpr bool is_complex_to_complex = requires { r.direction; };
  return index_order(s, r.dimensions == 0 ? s.rank : static_cast<std::size_t>(r.dimensions.value()),
                     !is_complex_to_complex);
}
/// Returns both sides of a valid request.
template <class R>
std::pair<laid_out, laid_out> sides_of(const R& r) noexcept {
  const index_order order = order_of(r);
  return {*lay_out(r.input.shape(), order), *lay_out(r.output.shape(), order)};
}

/// Convert valid requests for views to transforms.
template <class T>
c2c<T> as_transform(const complex_transform<T>& r) {
  const auto [in, out] = sides_of(r);
  return {.input = r.input,
          .output = r.output,
          .n = in.n,
          .direction = r.direction,
          .batch = in.batch,
          .normalization = r.normalization,
          .input_layout = in.where,
          .output_layout = out.where};
}
template <class T>
r2c<T> as_transform(const real_transform<T>& r) {
  const auto [in, out] = sides_of(r);
  return {.input = r.input,
          .output = r.output,
          .n = in.n,
          .batch = in.batch,
          .normalization = r.normalization,
          .input_layout = in.where,
          .output_layout = out.where};
}
template <class T>
c2r<T> as_transform(const real_inverse<T>& r) {
  const auto [in, out] = sides_of(r);
  return {.input = r.input,
          .output = r.output,
          .n = out.n,
          .batch = in.batch,
          .normalization = r.normalization,
          .input_layout = in.where,
          .output_layout = out.where,
          .consumes_input = r.consumes_input};
}

}  // namespace troupe::fft

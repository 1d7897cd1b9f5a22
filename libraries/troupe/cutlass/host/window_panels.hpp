// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <troupe/base/thread_team.hpp>
#include <troupe/cutlass/convolution_problem.hpp>
#include <troupe/epilogue/host/runs.hpp>

namespace troupe::cutlass::host {

/// Reads n elements, `stride` elements apart: i8 as it is, other types as float or double.
template <class N>
void read_run(dtype type, const std::byte* from, std::int64_t stride, N* to, std::int64_t n) noexcept {
  if constexpr (std::is_same_v<N, std::int8_t>) {
    for (std::int64_t i = 0; i < n; ++i) std::memcpy(to + i, from + i * stride, 1);
  } else {
    epilogue::host::read(type, from, stride, to, n);
  }
}

/// A matrix whose rows are positions and whose terms are the elements that the window covers at a position. Panels of
/// it, some rows, are gathered.
///
/// Forward, position o and element f of the window read the image at o * stride - padding_before + f * dilation, or 0
/// outside. Backward, row p reads the result at the o with o * stride - padding_before + f * dilation = p, or 0 if
/// there is none. A convolution and both of its gradients multiply the same pairs of o and f.
class window_panels {
 public:
  /// `from` is the image if forward, the result if backward; each group has `channels` channels. The panel's rows are
  /// positions of the other tensor.
  window_panels(const placed_tensor& from, const windows::geometry& g, bool backward, std::int64_t channels) noexcept;
  /// A window of one element: the rows are the elements of `from`.
  window_panels(const placed_tensor& from, const std::int64_t (&extents)[windows::most_spatial],
                std::int64_t channels) noexcept;

  /// Returns the number of positions in one image.
  std::int64_t positions() const noexcept { return extents_[0] * extents_[1] * extents_[2]; }
  std::int64_t k() const noexcept { return channels_ * g_.window_size(); }
  /// Returns true if the elements of a row are contiguous in a panel, false if the elements at one index k are.
  bool has_contiguous_k() const noexcept { return contiguous_k_; }
  /// Returns the term of a channel at element `f` of the window.
  std::int64_t k_of(std::int64_t channel, std::int64_t f) const noexcept {
    return contiguous_k_ ? f * channels_ + channel : channel * g_.window_size() + f;
  }

  /// A part of a group: `count` positions, counted through all images, and some channels.
  struct part {
    std::int64_t group, first, count;
    std::int64_t first_channel, channels;
  };
  /// Gathers all terms of `count` positions, as float, double, or int8_t for i8.
  template <class N>
  void gather(std::int64_t group, std::int64_t first, std::int64_t count, N* to, thread_team& team) const {
    gather(part{group, first, count, 0, channels_}, to, team);
  }
  /// Gathers a part.
  template <class N>
  void gather(const part& p, N* to, thread_team& team) const;

 private:
  struct position {
    std::int64_t image, at[windows::most_spatial];
  };
  position position_of(std::int64_t number) const noexcept;
  std::int64_t source(std::size_t i, std::int64_t position, std::int64_t f) const noexcept;
  template <class N>
  void gather_position(const part& p, std::int64_t number, N* to) const;
  template <class N>
  void gather_term(const part& p, std::int64_t channel, std::int64_t f, N* to) const;
  template <class N>
  void gather_run(const std::byte* line, std::int64_t k, std::int64_t first, std::int64_t count, N* to) const;
  const std::byte* image(const part& p, std::int64_t which, std::int64_t channel) const noexcept;

  placed_tensor from_;
  windows::geometry g_;
  bool backward_, contiguous_k_;
  std::int64_t channels_, bytes_;
  std::int64_t extents_[windows::most_spatial];  // positions along each axis
};

}  // namespace troupe::cutlass::host

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <troupe/base/thread_team.hpp>
#include <troupe/cutlass/convolution_problem.hpp>
#include <troupe/epilogue/host/runs.hpp>

namespace troupe::cutlass::host {

/// Reads n elements, `stride` elements apart: as float or double, or i8 as it is.
template <class N>
void read_run(dtype type, const std::byte* from, std::int64_t stride, N* to, std::int64_t n) noexcept {
  if constexpr (std::is_same_v<N, std::int8_t>) {
    for (std::int64_t i = 0; i < n; ++i) std::memcpy(to + i, from + i * stride, 1);
  } else {
    epilogue::host::read(type, from, stride, to, n);
  }
}

/// The elements under the windows: a matrix of positions and terms, of which panels are gathered.
///
/// Forward, position o and element f of the window read the image at o * step - before + f * dilation, or 0 outside.
/// Backward the positions are those of the image, and read the result at the o for which this is their position, or 0
/// if there is none. The same pairs of o and f are multiplied by a convolution and both of its gradients.
class window_panels {
 public:
  /// `from` has `channels` in a group, images or results, and positions of the other kind.
  window_panels(const placed_tensor& from, const windows::geometry& g, bool backward, std::int64_t channels) noexcept;
  /// Uses the elements of `from` themselves, one at each position.
  window_panels(const placed_tensor& from, const std::int64_t (&extents)[windows::most_spatial],
                std::int64_t channels) noexcept;

  std::int64_t positions() const noexcept { return at_[0] * at_[1] * at_[2]; }  ///< of an image
  std::int64_t k() const noexcept { return channels_ * g_.window_size(); }
  /// Returns true if the terms of a position are contiguous in a panel, false if the positions of a term are.
  bool has_contiguous_k() const noexcept { return contiguous_k_; }
  /// Returns the term of a channel at element `f` of the window.
  std::int64_t k_of(std::int64_t channel, std::int64_t f) const noexcept {
    return contiguous_k_ ? f * channels_ + channel : channel * g_.window_size() + f;
  }

  /// Selects a part: positions counted through all images, and channels of a group.
  struct part {
    std::int64_t group, first, count;  ///< positions
    std::int64_t first_channel, channels;
  };
  /// Gathers all terms of `count` positions, as float, double, or int8_t for i8.
  template <class N>
  void gather(std::int64_t group, std::int64_t first, std::int64_t count, N* to, thread_team& team) const {
    gather(part{group, first, count, 0, channels_}, to, team);
  }
  /// Gathers some of the channels.
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
  std::int64_t at_[windows::most_spatial];  // extents of the positions
};

}  // namespace troupe::cutlass::host

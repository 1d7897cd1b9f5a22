// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <troupe/base/threads/thread_team.hpp>
#include <troupe/windows/geometry.hpp>

namespace troupe::windows {

/// The strides of images in elements: between images, between channels, and along the spatial axes of a `geometry`.
struct image_strides {
  std::int64_t item = 0, channel = 0;
  std::array<std::int64_t, most_spatial> spatial{};
};

/// The transpose of a window matrix (im2col): its rows are positions of the window, and its columns are the elements
/// that the window covers at a position. For a product of matrices, some of its rows are gathered at a time: a panel.
///
/// Forward, position o and window element f read the image at o * stride - padding_before + f * dilation, or 0 outside
/// the image. Backward, row p reads the result at the position o for which o * stride - padding_before + f * dilation
/// is p, or 0 if there is none. A convolution and both of its gradients multiply the same pairs of o and f.
class panels {
 public:
  /// Makes panels that read the image if forward, or the result if `backward`; their rows are positions of the other
  /// tensor. Each group has `channels` channels. In a panel, the elements of a row are contiguous if `contiguous_k`,
  /// otherwise those of a column.
  panels(const image_strides& from, const geometry& g, bool backward, std::int64_t channels, bool contiguous_k) noexcept
      : from_(from), g_(g), backward_(backward), contiguous_k_(contiguous_k), channels_(channels) {
    std::copy_n(backward ? g.in : g.out, most_spatial, extents_);
  }

  /// Returns the number of rows for one image.
  std::int64_t positions() const noexcept { return extents_[0] * extents_[1] * extents_[2]; }
  /// Returns the number of columns of the matrix.
  std::int64_t k() const noexcept { return channels_ * g_.window_size(); }
  std::int64_t channels() const noexcept { return channels_; }
  bool has_contiguous_k() const noexcept { return contiguous_k_; }
  /// Returns the column of a channel and element `f` of the window.
  std::int64_t k_of(std::int64_t channel, std::int64_t f) const noexcept {
    return contiguous_k_ ? f * channels_ + channel : channel * g_.window_size() + f;
  }

  /// A part of the matrix of a group: `count` positions from `first` on, counted through all images, and `channels`
  /// channels from `first_channel` on.
  struct part {
    std::int64_t group, first, count;
    std::int64_t first_channel, channels;
  };
  /// Gathers a part. `read(element, stride, to, n)` must copy n elements to `to`: the elements at the offset `element`
  /// in the tensor that is read, and then at distances of `stride`.
  template <class N, class Read>
  void gather(const part& p, N* to, thread_team& team, Read&& read) const {
    constexpr std::int64_t elements_of_thread = 1 << 13;
    const std::int64_t columns = p.channels * g_.window_size();
    if (contiguous_k_) {
      team.spread(p.count, std::max<std::int64_t>(1, elements_of_thread / columns),
                  [&](std::int64_t i) { gather_row(p, p.first + i, to + i * columns, read); });
    } else {
      team.spread(columns, std::max<std::int64_t>(1, elements_of_thread / p.count), [&](std::int64_t c) {
        gather_column(p, c / g_.window_size(), c % g_.window_size(), to + c * p.count, read);
      });
    }
  }
  /// The inverse of a forward gather() of one column: calls `add(element, stride, values, n)` for the image elements
  /// from which gather() reads the n `values`.
  template <class N, class Add>
  void scatter_column(const part& p, std::int64_t channel, std::int64_t f, const N* values, Add&& add) const {
    for_each_run(p, channel, f, [&](std::int64_t done, std::int64_t, const run& r) {
      if (r.begin < r.end) add(r.element, r.stride, values + done + r.begin, r.end - r.begin);
    });
  }

 private:
  struct position {
    std::int64_t image, at[most_spatial];
  };
  position position_of(std::int64_t number) const noexcept {
    position p;
    p.at[2] = number % extents_[2], number /= extents_[2];
    p.at[1] = number % extents_[1], number /= extents_[1];
    p.at[0] = number % extents_[0], p.image = number / extents_[0];
    return p;
  }
  // Moves p to the first position of the next line.
  void next_line(position& p) const noexcept {
    p.at[2] = 0;
    if (++p.at[1] < extents_[1]) return;
    p.at[1] = 0;
    if (++p.at[0] < extents_[0]) return;
    p.at[0] = 0, ++p.image;
  }
  // Returns the index along axis i that window element f reads at a position; -1 if it is outside.
  std::int64_t source(std::size_t i, std::int64_t position, std::int64_t f) const noexcept {
    if (!backward_) {
      const std::int64_t at = g_.at(i, position, f);
      return at >= 0 && at < g_.in[i] ? at : -1;
    }
    const std::int64_t shift = position + g_.padding_before[i] - f * g_.dilation[i];
    return shift >= 0 && shift % g_.stride[i] == 0 && shift / g_.stride[i] < g_.out[i] ? shift / g_.stride[i] : -1;
  }
  // Returns the offset of the first element of a channel, which is counted from the part's first channel.
  std::int64_t first_of(const part& p, std::int64_t image, std::int64_t channel) const noexcept {
    return image * from_.item + (p.group * channels_ + p.first_channel + channel) * from_.channel;
  }

  // Gathers all columns at a position: a run of channels for each window element.
  template <class N, class Read>
  void gather_row(const part& p, std::int64_t number, N* to, Read& read) const {
    const position at = position_of(number);
    const std::int64_t first = first_of(p, at.image, 0);
    for (std::int64_t i = 0; i < g_.window[0]; ++i)
      for (std::int64_t j = 0; j < g_.window[1]; ++j) {
        const std::int64_t x = source(0, at.at[0], i), y = source(1, at.at[1], j);
        if (x < 0 || y < 0) {
          to = std::fill_n(to, g_.window[2] * p.channels, N(0));
          continue;
        }
        const std::int64_t line = first + x * from_.spatial[0] + y * from_.spatial[1];
        for (std::int64_t k = 0; k < g_.window[2]; ++k, to += p.channels) {
          const std::int64_t z = source(2, at.at[2], k);
          if (z < 0)
            std::fill_n(to, p.channels, N(0));
          else
            read(line + z * from_.spatial[2], from_.channel, to, p.channels);
        }
      }
  }

  // Consecutive positions along the last axis. Those in [begin, end) read elements from the offset `element` on, with
  // the stride `stride`; the others read 0.
  struct run {
    std::int64_t begin, end, element, stride;
  };
  // Calls `use(done, n, run)` for each n positions of a part that are in one line, after `done` earlier positions. If
  // backward, the window must have stride 1 along the last axis.
  template <class F>
  void for_each_run(const part& p, std::int64_t channel, std::int64_t f, F&& use) const {
    const std::int64_t shift = g_.at(2, 0, f % g_.window[2]), step = backward_ ? 1 : g_.stride[2];
    auto [first, last] = g_.positions_inside(2, f % g_.window[2]);
    if (backward_) first += shift, last += shift;
    for_each_line(
        p, channel, f, [&](std::int64_t done, std::int64_t n, std::int64_t c, bool inside, std::int64_t line) {
          if (!inside) return use(done, n, run{0, 0, 0, 0});
          const std::int64_t begin = std::clamp<std::int64_t>(first - c, 0, n), end = std::clamp(last - c, begin, n),
                             at = (c + begin) * step + (backward_ ? -shift : shift);
          use(done, n, run{begin, end, line + at * from_.spatial[2], step * from_.spatial[2]});
        });
  }
  // Calls `use(done, n, c, inside, line)` for each n positions of a part that are in one line, from coordinate c on. If
  // `inside`, `line` is the offset of the first element of the line that they read; otherwise they read 0.
  template <class F>
  void for_each_line(const part& p, std::int64_t channel, std::int64_t f, F&& use) const {
    const std::int64_t j = f / g_.window[2] % g_.window[1], i = f / (g_.window[2] * g_.window[1]);
    position at = position_of(p.first);
    for (std::int64_t done = 0; done < p.count; next_line(at)) {
      const std::int64_t n = std::min(p.count - done, extents_[2] - at.at[2]);
      const std::int64_t x = source(0, at.at[0], i), y = source(1, at.at[1], j);
      use(done, n, at.at[2], x >= 0 && y >= 0,
          first_of(p, at.image, channel) + x * from_.spatial[0] + y * from_.spatial[1]);
      done += n;
    }
  }

  // Gathers all positions of a column, in runs of positions that differ only in the last coordinate.
  template <class N, class Read>
  void gather_column(const part& p, std::int64_t channel, std::int64_t f, N* to, Read& read) const {
    if (backward_ && g_.stride[2] != 1) return gather_strided(p, channel, f, to, read);
    for_each_run(p, channel, f, [&](std::int64_t done, std::int64_t n, const run& r) {
      N* const out = to + done;
      std::fill_n(out, r.begin, N(0));
      if (r.begin < r.end) read(r.element, r.stride, out + r.begin, r.end - r.begin);
      std::fill_n(out + r.end, n - r.end, N(0));
    });
  }
  // Does the same backward, for a window whose stride along the last axis is not 1: some positions read 0.
  template <class N, class Read>
  void gather_strided(const part& p, std::int64_t channel, std::int64_t f, N* to, Read& read) const {
    const std::int64_t step = g_.stride[2], shift = g_.at(2, 0, f % g_.window[2]);  // row o * step + shift reads o
    const auto [begin, end] = g_.positions_inside(2, f % g_.window[2]);
    const auto first_from = [&](std::int64_t c) { return c <= shift ? 0 : (c - shift + step - 1) / step; };
    for_each_line(p, channel, f,
                  [&](std::int64_t done, std::int64_t n, std::int64_t c, bool inside, std::int64_t line) {
                    std::fill_n(to + done, n, N(0));
                    if (!inside) return;
                    N buffer[256];
                    const std::int64_t high = std::min(end, first_from(c + n));
                    for (std::int64_t o = std::max(begin, first_from(c)); o < high;) {
                      const std::int64_t count = std::min<std::int64_t>(high - o, std::size(buffer));
                      N* const out = to + done + (o * step + shift - c);
                      read(line + o * from_.spatial[2], from_.spatial[2], buffer, count);
                      for (std::int64_t i = 0; i < count; ++i) out[i * step] = buffer[i];
                      o += count;
                    }
                  });
  }

  image_strides from_;
  geometry g_;
  bool backward_, contiguous_k_;
  std::int64_t channels_;
  std::int64_t extents_[most_spatial];  // positions of one image along each axis
};

}  // namespace troupe::windows

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/cutlass/host/window_panels.hpp>

namespace troupe::cutlass::host {
namespace {

constexpr std::int64_t part_elements = 1 << 13;  // elements for one thread

constexpr std::int64_t divided_up(std::int64_t a, std::int64_t b) noexcept { return a <= 0 ? 0 : (a + b - 1) / b; }

}  // namespace

window_panels::window_panels(const placed_tensor& from, const windows::geometry& g, bool backward,
                             std::int64_t channels) noexcept
    : from_(from),
      g_(g),
      backward_(backward),
      contiguous_k_(channels > 1 && from.channel <= from.spatial[2]),
      channels_(channels),
      bytes_(static_cast<std::int64_t>(bytes_of(from.type))) {
  std::copy_n(backward ? g.in : g.out, windows::most_spatial, extents_);
}

window_panels::window_panels(const placed_tensor& from, const std::int64_t (&extents)[windows::most_spatial],
                             std::int64_t channels) noexcept
    : window_panels(
          from,
          [&] {
            windows::geometry g;
            for (std::size_t i = 0; i < windows::most_spatial; ++i) g.set(i, extents[i], extents[i], 1, {});
            return g;
          }(),
          false, channels) {}

auto window_panels::position_of(std::int64_t number) const noexcept -> position {
  position p;
  p.at[2] = number % extents_[2], number /= extents_[2];
  p.at[1] = number % extents_[1], number /= extents_[1];
  p.at[0] = number % extents_[0], p.image = number / extents_[0];
  return p;
}

// Returns the index along axis i that element f of the window reads at a position; -1 outside.
std::int64_t window_panels::source(std::size_t i, std::int64_t position, std::int64_t f) const noexcept {
  if (!backward_) {
    const std::int64_t at = g_.at(i, position, f);
    return at >= 0 && at < g_.in[i] ? at : -1;
  }
  const std::int64_t shift = position + g_.padding_before[i] - f * g_.dilation[i];
  return shift >= 0 && shift % g_.stride[i] == 0 && shift / g_.stride[i] < g_.out[i] ? shift / g_.stride[i] : -1;
}

const std::byte* window_panels::image(const part& p, std::int64_t which, std::int64_t channel) const noexcept {
  return reinterpret_cast<const std::byte*>(from_.address) +
         (which * from_.item + (p.group * channels_ + p.first_channel + channel) * from_.channel) * bytes_;
}

template <class N>
void window_panels::gather(const part& p, N* to, thread_team& team) const {
  if (contiguous_k_) {
    const std::int64_t terms = p.channels * g_.window_size();
    team.spread(p.count, std::max<std::int64_t>(1, part_elements / terms),
                [&](std::int64_t i) { gather_position(p, p.first + i, to + i * terms); });
  } else {
    team.spread(p.channels * g_.window_size(), std::max<std::int64_t>(1, part_elements / p.count),
                [&](std::int64_t t) { gather_term(p, t / g_.window_size(), t % g_.window_size(), to + t * p.count); });
  }
}

// Gathers all terms of a position: a run of channels for each element of the window.
template <class N>
void window_panels::gather_position(const part& p, std::int64_t number, N* to) const {
  const position at = position_of(number);
  const std::byte* const channels = image(p, at.image, 0);
  for (std::int64_t i = 0; i < g_.width[0]; ++i)
    for (std::int64_t j = 0; j < g_.width[1]; ++j) {
      const std::int64_t x = source(0, at.at[0], i), y = source(1, at.at[1], j);
      if (x < 0 || y < 0) {
        to = std::fill_n(to, g_.width[2] * p.channels, N(0));
        continue;
      }
      const std::byte* const line = channels + (x * from_.spatial[0] + y * from_.spatial[1]) * bytes_;
      for (std::int64_t k = 0; k < g_.width[2]; ++k, to += p.channels) {
        const std::int64_t z = source(2, at.at[2], k);
        if (z < 0)
          std::fill_n(to, p.channels, N(0));
        else
          read_run(from_.type, line + z * from_.spatial[2] * bytes_, from_.channel, to, p.channels);
      }
    }
}

// Gathers all positions of a term: runs of positions that differ in the last coordinate only.
template <class N>
void window_panels::gather_term(const part& p, std::int64_t channel, std::int64_t f, N* to) const {
  const std::int64_t k = f % g_.width[2], j = f / g_.width[2] % g_.width[1], i = f / (g_.width[2] * g_.width[1]);
  for (std::int64_t done = 0; done < p.count;) {
    const position at = position_of(p.first + done);
    const std::int64_t count = std::min(p.count - done, extents_[2] - at.at[2]);
    std::fill_n(to + done, count, N(0));
    const std::int64_t x = source(0, at.at[0], i), y = source(1, at.at[1], j);
    if (x >= 0 && y >= 0)
      gather_run(image(p, at.image, channel) + (x * from_.spatial[0] + y * from_.spatial[1]) * bytes_, k, at.at[2],
                 count, to + done);
    done += count;
  }
}

// Gathers the positions [first, first + count) along the last axis, for element k of the window along it. Does not
// write positions whose element is outside.
template <class N>
void window_panels::gather_run(const std::byte* line, std::int64_t k, std::int64_t first, std::int64_t count,
                               N* to) const {
  const auto [begin, end] = g_.positions_inside(2, k);
  const std::int64_t stride = from_.spatial[2];
  if (!backward_) {
    const std::int64_t low = std::max(begin, first), high = std::min(end, first + count);
    if (low < high)
      read_run(from_.type, line + g_.at(2, low, k) * stride * bytes_, g_.stride[2] * stride, to + (low - first),
               high - low);
    return;
  }
  const std::int64_t step = g_.stride[2], shift = g_.at(2, 0, k);  // position o reads element o * step + shift
  const std::int64_t low = std::max(begin, divided_up(first - shift, step)),
                     high = std::min(end, divided_up(first + count - shift, step));
  N buffer[256];
  for (std::int64_t o = low; o < high;) {
    const std::int64_t n = step == 1 ? high - o : std::min<std::int64_t>(high - o, std::size(buffer));
    N* const out = to + (o * step + shift - first);
    read_run(from_.type, line + o * stride * bytes_, stride, step == 1 ? out : buffer, n);
    if (step != 1)
      for (std::int64_t i = 0; i < n; ++i) out[i * step] = buffer[i];
    o += n;
  }
}

template void window_panels::gather<float>(const part&, float*, thread_team&) const;
template void window_panels::gather<double>(const part&, double*, thread_team&) const;
template void window_panels::gather<std::int8_t>(const part&, std::int8_t*, thread_team&) const;

}  // namespace troupe::cutlass::host

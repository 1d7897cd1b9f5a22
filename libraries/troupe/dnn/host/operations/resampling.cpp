// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <troupe/base/processor/for_each_processor.hpp>
#include <troupe/dnn/host/operations/compute_functions.hpp>
#include <troupe/dnn/operations/resampling/attributes.hpp>
#include <troupe/dnn/operations/resampling/sampling.hpp>
#include <troupe/windows/geometry.hpp>
#include <vector>

namespace troupe::dnn::host {
namespace {

// The interpolation along an axis, as a sparse matrix: element i of the result is the sum of weight[p] * source[at[p]]
// over p in [begin[i], begin[i + 1]).
template <class N>
struct interpolation {
  std::int64_t from;  // extent of the source
  std::vector<std::int64_t> begin{0}, at;
  std::vector<N> weight;

  std::int64_t size() const noexcept { return static_cast<std::int64_t>(begin.size()) - 1; }
};

template <class N>
interpolation<N> interpolation_along(const sampling_axis& a) {
  interpolation<N> out{.from = a.in, .at = {}, .weight = {}};
  for (std::int64_t o = 0; o < a.out; ++o) {
    N rest = 0;
    const std::int64_t first = a.first(o, rest);
    for (std::int64_t k = 0; k < a.taps; ++k) {
      out.at.push_back(a.on_image(first + k));
      out.weight.push_back(sampling_weight(a.taps, k, rest));
    }
    out.begin.push_back(static_cast<std::int64_t>(out.at.size()));
  }
  return out;
}

// Returns the transposed matrix, for gradients.
template <class N>
interpolation<N> transposed(const interpolation<N>& m) {
  interpolation<N> out{.from = m.size(), .at = {}, .weight = {}};
  out.begin.assign(static_cast<std::size_t>(m.from) + 1, 0);
  out.at.resize(m.at.size()), out.weight.resize(m.at.size());
  for (const std::int64_t to : m.at) ++out.begin[static_cast<std::size_t>(to) + 1];
  for (std::size_t i = 1; i < out.begin.size(); ++i) out.begin[i] += out.begin[i - 1];
  std::vector<std::int64_t> next = out.begin;
  for (std::int64_t i = 0; i < m.size(); ++i)
    for (std::int64_t p = m.begin[static_cast<std::size_t>(i)]; p < m.begin[static_cast<std::size_t>(i) + 1]; ++p) {
      const auto part = static_cast<std::size_t>(p);
      const auto to = static_cast<std::size_t>(next[static_cast<std::size_t>(m.at[part])]++);
      out.at[to] = i, out.weight[to] = m.weight[part];
    }
  return out;
}

template <class N>
TROUPE_INLINE void add_here(N weight, const N* from, N* to, std::int64_t n) noexcept {
  for (std::int64_t i = 0; i < n; ++i) to[i] += weight * from[i];
}
TROUPE_FOR_EACH_PROCESSOR
void add_weighted(float weight, const float* from, float* to, std::int64_t n) noexcept {
  add_here(weight, from, to, n);
}
TROUPE_FOR_EACH_PROCESSOR
void add_weighted(double weight, const double* from, double* to, std::int64_t n) noexcept {
  add_here(weight, from, to, n);
}

template <class N>
void interpolate_line(const interpolation<N>& m, const N* from, N* to) noexcept {
  const std::int64_t *const begin = m.begin.data(), *const at = m.at.data();
  const N* const weight = m.weight.data();
  for (std::int64_t i = 0; i < m.size(); ++i) {
    N sum = 0;
    for (std::int64_t p = begin[i]; p < begin[i + 1]; ++p) sum += weight[p] * from[at[p]];
    to[i] = sum;
  }
}

// Computes the result line by line: adds weighted lines of the source, then interpolates along the sum.
template <class N>
void interpolate(const execution_context& on, const std::array<interpolation<N>, windows::most_spatial>& m,
                 std::int64_t planes, const N* from, N* to) {
  constexpr std::int64_t part_size = 1 << 14;
  const std::int64_t lines_of_plane = m[0].size() * m[1].size(), length = m[2].size(),
                     plane = m[0].from * m[1].from * m[2].from, lines = planes * lines_of_plane,
                     grain = std::max<std::int64_t>(1, part_size / std::max(length, m[2].from));
  on.team.spread((lines + grain - 1) / grain, 1, [&](std::int64_t part) {
    std::vector<N> sum(static_cast<std::size_t>(m[2].from));
    for (std::int64_t l = part * grain; l < std::min(lines, (part + 1) * grain); ++l) {
      const std::int64_t within = l % lines_of_plane;
      const auto a = static_cast<std::size_t>(within / m[1].size()), b = static_cast<std::size_t>(within % m[1].size());
      std::fill(sum.begin(), sum.end(), N(0));
      for (auto p = static_cast<std::size_t>(m[0].begin[a]); p < static_cast<std::size_t>(m[0].begin[a + 1]); ++p)
        for (auto q = static_cast<std::size_t>(m[1].begin[b]); q < static_cast<std::size_t>(m[1].begin[b + 1]); ++q)
          add_weighted(m[0].weight[p] * m[1].weight[q],
                       from + l / lines_of_plane * plane + (m[0].at[p] * m[1].from + m[1].at[q]) * m[2].from,
                       sum.data(), m[2].from);
      interpolate_line(m[2], sum.data(), to + l * length);
    }
  });
}

template <class N>
std::array<interpolation<N>, windows::most_spatial> interpolations_of(const resampling_attributes& a,
                                                                      const tensor_shape& in, const tensor_shape& out,
                                                                      bool is_gradient) {
  std::array<interpolation<N>, windows::most_spatial> all;
  const std::size_t missing = windows::most_spatial + 2 - in.rank;
  for (std::size_t i = 0; i < windows::most_spatial; ++i) {
    // A missing axis has one element.
    const std::int64_t from = i < missing ? 1 : in.extents[i - missing + 2],
                       to = i < missing ? 1 : out.extents[i - missing + 2];
    const interpolation<N> m = interpolation_along<N>({from, to, i < missing ? 1 : a.taps, a.coordinates, a.rounding});
    all[i] = is_gradient ? transposed(m) : m;
  }
  return all;
}

}  // namespace

template <class N>
void resample(const execution_context& on, const operator_step& step) {
  const auto a = step.attributes.as<resampling_attributes>();
  const location &x = step.inputs[0], &y = step.outputs[0];
  interpolate(on, interpolations_of<N>(a, x.shape, y.shape, false), x.shape.extents[0] * x.shape.extents[1],
              static_cast<const N*>(on.elements<N>(x)), on.elements<N>(y));
}

template <class N>
void resampling_gradient(const execution_context& on, const operator_step& step) {
  const auto a = step.attributes.as<resampling_attributes>();
  const location &dy = step.inputs[0], &dx = step.outputs[0];
  interpolate(on, interpolations_of<N>(a, dx.shape, dy.shape, true), dx.shape.extents[0] * dx.shape.extents[1],
              static_cast<const N*>(on.elements<N>(dy)), on.elements<N>(dx));
}

TROUPE_HOST_STEP(resample);
TROUPE_HOST_STEP(resampling_gradient);

}  // namespace troupe::dnn::host

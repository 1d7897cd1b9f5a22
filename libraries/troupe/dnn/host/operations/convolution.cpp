// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Convolutions as products of matrices: for each panel of positions, the elements in their windows are gathered into a
// matrix.
#include <algorithm>
#include <memory>
#include <troupe/dnn/host/operations/compute_functions.hpp>
#include <troupe/dnn/host/row_products.hpp>
#include <troupe/dnn/steps/convolution_steps.hpp>
#include <troupe/windows/panels.hpp>

namespace troupe::dnn::host {
namespace {

constexpr std::int64_t panel_bytes = 2 << 20;  // so that the gathered matrix stays in the cache

template <class N>
struct convolution_panels : windows::convolution_geometry {
  convolution_panels(const execution_context& on, const operator_step& step)
      : windows::convolution_geometry(convolution_geometry_of(step)),
        work(on),
        summands(channels_of_group * window_size()),
        gathered({groups * channels_of_group * image_size(), image_size(), {in[1] * in[2], in[2], 1}}, *this, false,
                 channels_of_group, false) {}

  // Returns true if the image itself is the window matrix: windows have one element and stride 1, and there is no
  // padding.
  bool is_product() const noexcept {
    for (std::size_t i = 0; i < windows::most_spatial; ++i)
      if (window[i] != 1 || stride[i] != 1 || padding_before[i] != 0 || in[i] != out[i]) return false;
    return true;
  }
  // Returns true if each group has one channel of the image. Loops are faster then, because a product would have few
  // summands.
  bool is_depthwise() const noexcept { return channels_of_group == 1; }

  std::int64_t panel_positions() const noexcept {
    const std::int64_t most =
        std::max<std::int64_t>(16, panel_bytes / (summands * static_cast<std::int64_t>(sizeof(N))));
    return std::min(positions(), most);
  }

  // `count` positions from `first` on, in one group of one image.
  struct panel {
    std::int64_t which, group, first, count;  // which: image * groups + group
    N* workspace;  // has the window matrix, apart from the plan's workspace; null if the image is the matrix
  };
  template <class F>
  void for_each_panel(F&& f) const {
    const std::int64_t most = is_product() ? positions() : panel_positions();
    const std::unique_ptr<N[]> workspace(is_product() ? nullptr : new N[static_cast<std::size_t>(most * summands)]);
    for (std::int64_t i = 0; i < images * groups; ++i)
      for (std::int64_t first = 0; first < positions(); first += most)
        f(panel{i, i % groups, first, std::min(most, positions() - first), workspace.get()});
  }

  windows::panels::part part_of(const panel& p) const noexcept {
    return {p.group, p.which / groups * positions() + p.first, p.count, 0, channels_of_group};
  }

  // Returns the matrix of the elements in a panel's windows: a row for each window element, a column for each position.
  rows_of<N> window_matrix(const N* all_images, const panel& p) const {
    if (p.workspace == nullptr) return {all_images + p.which * channels_of_group * image_size(), positions()};
    gathered.gather(part_of(p), p.workspace, work.team,
                    [all_images](std::int64_t at, std::int64_t stride, N* to, std::int64_t n) {
                      const N* const source = all_images + at;
                      if (stride == 1)
                        std::copy_n(source, n, to);
                      else
                        for (std::int64_t i = 0; i < n; ++i) to[i] = source[i * stride];
                    });
    return {p.workspace, p.count};
  }

  // Adds the rows of a window matrix that belong to `channel` to the image elements from which they were gathered.
  void scatter(N* all_images, const panel& p, std::int64_t channel) const {
    const auto part = part_of(p);
    for (std::int64_t f = 0; f < window_size(); ++f)
      gathered.scatter_column(part, channel, f, p.workspace + (channel * window_size() + f) * p.count,
                              [all_images](std::int64_t at, std::int64_t stride, const N* values, std::int64_t n) {
                                N* const target = all_images + at;
                                for (std::int64_t i = 0; i < n; ++i) target[i * stride] += values[i];
                              });
  }

  const execution_context& work;
  const std::int64_t summands;
  const windows::panels gathered;
};

// Calls `f(window element, first result, first image element, count)` for each window element and each line of results,
// with the results in this line at which the window element is inside the image. Used for groups of one channel.
template <class N, class F>
void for_each_line(const windows::geometry& g, F&& f) {
  for (std::int64_t i = 0; i < g.window[0]; ++i)
    for (std::int64_t j = 0; j < g.window[1]; ++j)
      for (std::int64_t k = 0; k < g.window[2]; ++k) {
        const auto [a0, a1] = g.positions_inside(0, i);
        const auto [b0, b1] = g.positions_inside(1, j);
        const auto [c0, c1] = g.positions_inside(2, k);
        for (std::int64_t a = a0; a < a1; ++a)
          for (std::int64_t b = b0; b < b1; ++b)
            if (c1 > c0)
              f((i * g.window[1] + j) * g.window[2] + k, (a * g.out[1] + b) * g.out[2] + c0,
                (g.at(0, a, i) * g.in[1] + g.at(1, b, j)) * g.in[2] + g.at(2, c0, k), c1 - c0);
      }
}

}  // namespace

template <class N>
void convolution(const execution_context& on, const operator_step& step) {
  const location &x = step.inputs[0], &filters = step.inputs[1], &y = step.outputs[0];
  const convolution_panels<N> c(on, step);
  const N *const from = on.elements<N>(x), *const weights = on.elements<N>(filters);
  N* const to = on.elements<N>(y);
  const std::int64_t positions = c.positions(), filter_count = c.groups * c.filters_of_group;
  if (c.is_depthwise()) {
    on.team.spread(c.images * filter_count, 1, [&](std::int64_t plane) {
      const std::int64_t image = plane / filter_count, k = plane % filter_count;
      const N* const in = from + (image * c.groups + k / c.filters_of_group) * c.image_size();
      N* const out = to + plane * positions;
      std::fill_n(out, positions, N(0));
      for_each_line<N>(c, [&](std::int64_t f, std::int64_t o, std::int64_t p, std::int64_t n) {
        const N weight = weights[k * c.summands + f];
        const std::int64_t stride = c.stride[2];
        for (std::int64_t q = 0; q < n; ++q) out[o + q] += weight * in[p + q * stride];
      });
    });
    return;
  }
  c.for_each_panel([&](const typename convolution_panels<N>::panel& p) {
    multiply_rows<N>(c.filters_of_group, p.count, c.summands,
                     {weights + p.group * c.filters_of_group * c.summands, c.summands}, c.window_matrix(from, p), 0,
                     to + p.which * c.filters_of_group * positions + p.first, positions);
  });
}

template <class N>
void convolution_data_gradient(const execution_context& on, const operator_step& step) {
  const location &dy = step.inputs[0], &filters = step.inputs[1], &dx = step.outputs[0];
  const convolution_panels<N> c(on, step);
  const N *const from = on.elements<N>(dy), *const weights = on.elements<N>(filters);
  N* const to = on.elements<N>(dx);
  const std::int64_t positions = c.positions();
  if (c.is_depthwise()) {
    on.team.spread(c.images * c.groups, 1, [&](std::int64_t plane) {
      N* const image = to + plane * c.image_size();
      std::fill_n(image, c.image_size(), N(0));
      for (std::int64_t k = 0; k < c.filters_of_group; ++k) {
        const N* const d = from + (plane * c.filters_of_group + k) * positions;
        const N* const filter = weights + (plane % c.groups * c.filters_of_group + k) * c.summands;
        for_each_line<N>(c, [&](std::int64_t f, std::int64_t o, std::int64_t p, std::int64_t n) {
          const N weight = filter[f];
          const std::int64_t stride = c.stride[2];
          for (std::int64_t q = 0; q < n; ++q) image[p + q * stride] += weight * d[o + q];
        });
      }
    });
    return;
  }
  c.for_each_panel([&](const typename convolution_panels<N>::panel& p) {
    N* const image = to + p.which * c.channels_of_group * c.image_size();
    const bool is_product = p.workspace == nullptr;
    if (!is_product && p.first == 0) std::fill_n(image, c.channels_of_group * c.image_size(), N(0));
    multiply_rows<N>(c.summands, p.count, c.filters_of_group,
                     {weights + p.group * c.filters_of_group * c.summands, c.summands, true},
                     {from + p.which * c.filters_of_group * positions + p.first, positions}, 0,
                     is_product ? image : p.workspace, p.count);
    if (is_product) return;
    // Rows of one channel are added to the same elements, so one thread adds all rows of a channel.
    on.team.spread(c.channels_of_group, 1, [&](std::int64_t channel) { c.scatter(to, p, channel); });
  });
}

template <class N>
void convolution_weight_gradient(const execution_context& on, const operator_step& step) {
  const location &dy = step.inputs[0], &x = step.inputs[1], &dfilters = step.outputs[0];
  const convolution_panels<N> c(on, step);
  const N *const from = on.elements<N>(dy), *const images = on.elements<N>(x);
  N* const to = on.elements<N>(dfilters);
  const std::int64_t positions = c.positions(), filter_count = c.groups * c.filters_of_group;
  if (c.is_depthwise()) {
    on.team.spread(filter_count, 1, [&](std::int64_t k) {
      std::vector<double> sums(static_cast<std::size_t>(c.summands));
      for (std::int64_t i = 0; i < c.images; ++i) {
        const N* const d = from + (i * filter_count + k) * positions;
        const N* const image = images + (i * c.groups + k / c.filters_of_group) * c.image_size();
        for_each_line<N>(c, [&](std::int64_t f, std::int64_t o, std::int64_t p, std::int64_t n) {
          double sum = 0;
          for (std::int64_t q = 0; q < n; ++q)
            sum += static_cast<double>(d[o + q]) * static_cast<double>(image[p + q * c.stride[2]]);
          sums[static_cast<std::size_t>(f)] += sum;
        });
      }
      std::transform(sums.begin(), sums.end(), to + k * c.summands, [](double s) { return static_cast<N>(s); });
    });
    return;
  }
  c.for_each_panel([&](const typename convolution_panels<N>::panel& p) {
    const auto window = c.window_matrix(images, p);
    const bool begun = p.which >= c.groups || p.first > 0;
    multiply_rows<N>(c.filters_of_group, c.summands, p.count,
                     {from + p.which * c.filters_of_group * positions + p.first, positions},
                     {window.data, window.stride, true}, begun ? N(1) : N(0),
                     to + p.group * c.filters_of_group * c.summands, c.summands);
  });
}

TROUPE_HOST_STEP(convolution);
TROUPE_HOST_STEP(convolution_data_gradient);
TROUPE_HOST_STEP(convolution_weight_gradient);

}  // namespace troupe::dnn::host

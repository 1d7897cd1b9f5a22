// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/dnn/operations/convolution/attributes.hpp>
#include <troupe/dnn/testing/reference/definitions.hpp>

namespace troupe::dnn::detail {
namespace {

// Calls `use(y index, x index, filters index)` for each product that a convolution sums. Its gradients use the same
// triples of indexes.
template <class Use>
void for_each_product(const convolution_attributes& f, const tensor_shape& x, const tensor_shape& filters,
                      const tensor_shape& y, Use use) {
  const std::int64_t filters_of_group = filters.extents[0] / f.groups, channels_of_group = filters.extents[1];
  tensor_shape one_filter = filters;
  one_filter.extents[0] = 1;
  for_each_index(y, [&](const tensor_index& out) {
    for_each_index(one_filter, [&](tensor_index filter) {
      filter[0] = out[1];
      tensor_index image{out[0], out[1] / filters_of_group * channels_of_group + filter[1]};
      if (find_in_image(f.window, x, out, filter, image)) use(out, std::as_const(image), std::as_const(filter));
    });
  });
}

}  // namespace

void convolve(const convolution_attributes& f, inputs in, outputs out) {
  const input_values x = in[0], filters = in[1];
  const output_values y = out[0];
  for_each_product(f, x.shape, filters.shape, y.shape,
                   [&](auto& out, auto& image, auto& filter) { y[out] += x[image] * filters[filter]; });
}

void find_data_gradient(const convolution_attributes& f, inputs in, outputs out) {
  const input_values dy = in[0], filters = in[1];
  const output_values dx = out[0];
  for_each_product(f, dx.shape, filters.shape, dy.shape,
                   [&](auto& out, auto& image, auto& filter) { dx[image] += dy[out] * filters[filter]; });
}

void find_weight_gradient(const convolution_attributes& f, inputs in, outputs out) {
  const input_values dy = in[0], x = in[1];
  const output_values dw = out[0];
  for_each_product(f, x.shape, dw.shape, dy.shape,
                   [&](auto& out, auto& image, auto& filter) { dw[filter] += dy[out] * x[image]; });
}

}  // namespace troupe::dnn::detail

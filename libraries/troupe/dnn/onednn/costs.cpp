// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The times were measured on an EPYC 9004 (Zen 4) with oneDNN 2.6.3, for AVX-512 and for AVX2, over the convolutions of
// ResNet-50. Only the ratios of times matter.
#include <troupe/dnn/onednn/costs.hpp>

namespace troupe::dnn::onednn {
namespace {

using strategy = convolution_to_build::strategy;

// A coefficient for each of the three operations: the convolution, its data gradient, and its weight gradient.
struct per_operation {
  double forward, data, weights;
  double operator[](op what) const noexcept {
    return what == op::convolution ? forward : what == op::convolution_data_gradient ? data : weights;
  }
};

double bytes_of(const tensor_shape& s) noexcept { return 4.0 * static_cast<double>(elements_of(s)); }
double flops_of(const convolution_to_build& c) noexcept {
  return 2.0 * static_cast<double>(elements_of(c.result)) * static_cast<double>(elements_of(c.filters)) /
         static_cast<double>(c.filters.extents[0]);
}
double reordered_bytes(const convolution_cost& c, image_layout needed) noexcept {
  double bytes = 0;
  if (c.layout_of_image != image_layout::any && c.layout_of_image != needed) bytes += bytes_of(c.estimated.image);
  if (c.layout_of_result != image_layout::any && c.layout_of_result != needed) bytes += bytes_of(c.estimated.result);
  return bytes;
}

// Returns true if filters have spatial extents of 1.
bool has_unit_filters(const convolution_to_build& c) noexcept {
  for (std::size_t i = 2; i < c.filters.rank; ++i)
    if (c.filters.extents[i] != 1) return false;
  return true;
}
// Returns true if the convolution is a product of matrices: filters have spatial extents of 1, and each element of the
// image is read at one position.
bool is_product(const convolution_to_build& c) noexcept {
  for (std::size_t i = 2; i < c.image.rank; ++i)
    if (c.image.extents[i] != c.result.extents[i] || c.attributes.slides[i - 2].padding_before != 0) return false;
  return has_unit_filters(c);
}

// Returns the time of computing each image as a product of matrices. `per_gathered_byte` is the time for each byte of
// the window matrix. Filters are packed again for each image.
double time_of_products(const convolution_to_build& c, double per_flop, double per_gathered_byte,
                        double per_filter_byte) noexcept {
  double out = per_flop * flops_of(c) + per_filter_byte * bytes_of(c.filters) * static_cast<double>(c.image.extents[0]);
  if (!is_product(c))
    out += per_gathered_byte * bytes_of(c.result) / static_cast<double>(c.filters.extents[0]) *
           static_cast<double>(elements_of(c.filters)) / static_cast<double>(c.filters.extents[0]);
  return out;
}
double time_of_functions(const convolution_cost& c) noexcept {
  return c.has_functions ? 0.2 * bytes_of(c.estimated.result) : 0;
}

constexpr double per_reordered_byte = 0.2;

}  // namespace

double convolution_cost::of_own_loops() const noexcept {
  const convolution_to_build& c = estimated;
  const double other_time = 0.45 * reordered_bytes(*this, image_layout::channels_first) + time_of_functions(*this);
  const double flops = flops_of(c);
  if (c.image.extents[1] == c.attributes.groups) {
    // Our loops process a line of results for each window element.
    constexpr per_operation per_flop{0.085, 0.09, 0.37};
    constexpr double per_line = 3.3, per_strided_flop = 0.15;
    const std::size_t last = c.result.rank - 1;
    const double lines = flops / 2 / static_cast<double>(c.result.extents[last]);
    const bool has_strides = c.attributes.slides[last - 2].stride != 1;
    return (per_flop[c.what] + (has_strides ? per_strided_flop : 0)) * flops + per_line * lines + other_time;
  }
  constexpr double per_flop_in_groups = 0.03;
  if (c.attributes.groups != 1) return per_flop_in_groups * flops + other_time;
  constexpr per_operation per_gathered_byte{0.12, 0.15, 0.18}, per_filter_byte{0.1, 0.17, 0.15},
      per_unit_filter_byte{0.05, 0.1, 0.07};
  return time_of_products(c, 0.01, per_gathered_byte[c.what],
                          (has_unit_filters(c) ? per_unit_filter_byte : per_filter_byte)[c.what]) +
         other_time;
}

double convolution_cost::of_onednn(strategy s) const noexcept {
  const convolution_to_build& c = estimated;
  if (s == strategy::products) {
    constexpr per_operation per_flop{0.0091, 0.0093, 0.0105}, per_gathered_byte{0.35, 0.18, 0.7},
        per_filter_byte{0.03, 0.15, 0.08}, per_unit_filter_byte{0.11, 0.2, 0.04};
    return time_of_products(c, per_flop[c.what], per_gathered_byte[c.what],
                            (has_unit_filters(c) ? per_unit_filter_byte : per_filter_byte)[c.what]) +
           per_reordered_byte * reordered_bytes(*this, image_layout::channels_first) + time_of_functions(*this);
  }
  constexpr per_operation per_filter_byte{0.12, 0.2, 0.9}, per_unit_filter_byte{0.45, 0.12, 0.6};
  constexpr std::int64_t few_channels = 16;
  double per_flop = s == strategy::library_choice ? 0.0091 : is_wide ? 0.0095 : 0.0114;
  if (c.what == op::convolution_data_gradient && c.attributes.groups == 1 && c.image.extents[1] < few_channels)
    per_flop *= 8;
  constexpr per_operation per_chosen_byte{0.23, 0.12, 0.13};
  const double reordered = s == strategy::channels_last
                               ? per_reordered_byte * reordered_bytes(*this, image_layout::channels_last)
                               : per_chosen_byte[c.what] * (bytes_of(c.image) + bytes_of(c.result));
  return per_flop * flops_of(c) +
         (has_unit_filters(c) ? per_unit_filter_byte : per_filter_byte)[c.what] * bytes_of(c.filters) + reordered;
}

bool convolution_cost::allows(strategy s) const noexcept {
  // If image and result have their channels first, oneDNN chooses the layout.
  const bool both_first =
      layout_of_image == image_layout::channels_first && layout_of_result == image_layout::channels_first;
  if (s == strategy::channels_last) return !both_first;
  if (s == strategy::library_choice) return both_first;
  // oneDNN's products are slow with groups; without AVX-512 they are slow for some gradients.
  return is_wide && estimated.attributes.groups == 1;
}

}  // namespace troupe::dnn::onednn

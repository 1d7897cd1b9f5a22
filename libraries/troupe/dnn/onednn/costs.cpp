// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Times were measured on an EPYC 9004 (Zen 4), with oneDNN 2.6.3 for AVX-512 and for AVX2, over the convolutions of
// ResNet-50. Only their ratio matters.
#include <troupe/dnn/onednn/costs.hpp>

namespace troupe::dnn::onednn {
namespace {

using way = convolution::way;

// Forward, and the gradients of data and of weights.
struct of_direction {
  double forward, data, weights;
  double operator[](op what) const noexcept {
    return what == op::convolution ? forward : what == op::convolution_data_gradient ? data : weights;
  }
};

double bytes_of(const tensor_shape& s) noexcept { return 4.0 * static_cast<double>(elements_of(s)); }
double flops_of(const cost& c) noexcept {
  return 2.0 * static_cast<double>(elements_of(c.result)) * static_cast<double>(elements_of(c.filters)) /
         static_cast<double>(c.filters.extents[0]);
}
double bytes_otherwise(const cost& c, order wanted) noexcept {
  double bytes = 0;
  if (c.of_image != order::either && c.of_image != wanted) bytes += bytes_of(c.image);
  if (c.of_result != order::either && c.of_result != wanted) bytes += bytes_of(c.result);
  return bytes;
}

// A filter of one element.
bool has_one_place(const cost& c) noexcept {
  for (std::size_t i = 2; i < c.filters.rank; ++i)
    if (c.filters.extents[i] != 1) return false;
  return true;
}
// And it sees every element of the image once.
bool is_product(const cost& c) noexcept {
  for (std::size_t i = 2; i < c.image.rank; ++i)
    if (c.image.extents[i] != c.result.extents[i] || c.attributes.window.padding_before[i - 2] != 0) return false;
  return has_one_place(c);
}

// As a product of matrices, for each image: `of_seen` for each byte that windows see and that is gathered. Filters are
// packed for each; sums of their gradients are not.
double of_products(const cost& c, double of_flop, double of_seen, double of_byte_of_filters) noexcept {
  double out =
      of_flop * flops_of(c) + of_byte_of_filters * bytes_of(c.filters) * static_cast<double>(c.image.extents[0]);
  if (!is_product(c))
    out += of_seen * bytes_of(c.result) / static_cast<double>(c.filters.extents[0]) *
           static_cast<double>(elements_of(c.filters)) / static_cast<double>(c.filters.extents[0]);
  return out;
}
double of_pass(const cost& c) noexcept { return c.has_functions ? 0.2 * bytes_of(c.result) : 0; }

constexpr double of_reordered_byte = 0.2;

}  // namespace

double cost::of_ours() const noexcept {
  const double otherwise = 0.45 * bytes_otherwise(*this, order::first) + of_pass(*this);
  const double flops = flops_of(*this);
  if (image.extents[1] == attributes.groups) {
    // Loops over lines of the result, for each element of the window.
    constexpr of_direction of_flop{0.085, 0.09, 0.37};
    constexpr double of_line = 3.3, of_flop_with_steps = 0.15;
    const std::size_t last = result.rank - 1;
    const double lines = flops / 2 / static_cast<double>(result.extents[last]);
    const bool has_steps = attributes.window.stride[last - 2] != 1;
    return (of_flop[what] + (has_steps ? of_flop_with_steps : 0)) * flops + of_line * lines + otherwise;
  }
  constexpr double of_flop_in_groups = 0.03;
  if (attributes.groups != 1) return of_flop_in_groups * flops + otherwise;
  constexpr of_direction of_seen{0.12, 0.15, 0.18}, of_filters{0.1, 0.17, 0.15}, of_filters_of_one{0.05, 0.1, 0.07};
  return of_products(*this, 0.01, of_seen[what], (has_one_place(*this) ? of_filters_of_one : of_filters)[what]) +
         otherwise;
}

double cost::of(way w) const noexcept {
  if (w == way::products) {
    constexpr of_direction of_flop{0.0091, 0.0093, 0.0105}, of_seen{0.35, 0.18, 0.7}, of_filters{0.03, 0.15, 0.08},
        of_filters_of_one{0.11, 0.2, 0.04};
    return of_products(*this, of_flop[what], of_seen[what],
                       (has_one_place(*this) ? of_filters_of_one : of_filters)[what]) +
           of_reordered_byte * bytes_otherwise(*this, order::first) + of_pass(*this);
  }
  constexpr of_direction of_filters{0.12, 0.2, 0.9}, of_filters_of_one{0.45, 0.12, 0.6};
  constexpr std::int64_t few_channels = 16;
  double of_flop = w == way::as_it_chooses ? 0.0091 : is_wide ? 0.0095 : 0.0114;
  if (what == op::convolution_data_gradient && attributes.groups == 1 && image.extents[1] < few_channels) of_flop *= 8;
  constexpr of_direction of_chosen_byte{0.23, 0.12, 0.13};
  const double reordered = w == way::channels_last ? of_reordered_byte * bytes_otherwise(*this, order::last)
                                                   : of_chosen_byte[what] * (bytes_of(image) + bytes_of(result));
  return of_flop * flops_of(*this) + (has_one_place(*this) ? of_filters_of_one : of_filters)[what] * bytes_of(filters) +
         reordered;
}

bool cost::allows(way w) const noexcept {
  // Where both images lie with the last index first, oneDNN may choose.
  const bool both_first = of_image == order::first && of_result == order::first;
  if (w == way::channels_last) return !both_first;
  if (w == way::as_it_chooses) return both_first;
  // Without AVX-512 its products are slow in some directions, and in groups everywhere.
  return is_wide && attributes.groups == 1;
}

}  // namespace troupe::dnn::onednn

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Times were measured on an EPYC 9004 (Zen 4), with oneDNN 2.6.3 for AVX-512 and for AVX2. Only their ratio matters.
#include <troupe/dnn/onednn/costs.hpp>

namespace troupe::dnn::onednn {
namespace {

constexpr double of_flop = 1 / 110.0, of_copied_byte = 0.2;

double bytes_of(const tensor_shape& s) noexcept { return 4.0 * static_cast<double>(elements_of(s)); }
double flops_of(const cost& c) noexcept {
  return 2.0 * static_cast<double>(elements_of(c.result)) * static_cast<double>(elements_of(c.filters)) /
         static_cast<double>(c.filters.extents[0]);
}
double of_copies(const cost& c, order wanted) noexcept {
  double bytes = 0;
  if (c.of_image != order::either && c.of_image != wanted) bytes += bytes_of(c.image);
  if (c.of_result != order::either && c.of_result != wanted) bytes += bytes_of(c.result);
  return of_copied_byte * bytes;
}

// A filter of one element that sees every element of the image once.
bool is_product(const cost& c) noexcept {
  for (std::size_t i = 2; i < c.image.rank; ++i)
    if (c.filters.extents[i] != 1 || c.image.extents[i] != c.result.extents[i] || c.form.window.before[i - 2] != 0)
      return false;
  return true;
}

}  // namespace

double cost::of_ours() const noexcept {
  constexpr double of_gathered_byte = 0.25, slower_in_groups = 9;
  const double channels = static_cast<double>(image.extents[1]) / static_cast<double>(form.groups);
  double out = flops_of(*this) * of_flop + of_copies(*this, order::first);
  if (form.groups != 1 || channels == 1) out += flops_of(*this) * of_flop * (slower_in_groups - 1);
  if (!is_product(*this) && channels > 1) {
    const double seen = bytes_of(result) / static_cast<double>(result.extents[1]) * static_cast<double>(form.groups) *
                        static_cast<double>(elements_of(filters)) / static_cast<double>(filters.extents[0]);
    out += of_gathered_byte * seen;
  }
  return out;
}

double cost::of_onednn() const noexcept {
  constexpr double of_byte_of_filters = 0.5;
  constexpr std::int64_t few_channels = 16;
  double speed = !is_channels_last() ? 1.0 : is_wide ? 0.95 : 0.8;
  if (what == op::convolution_data_gradient && image.extents[1] < few_channels * form.groups) speed /= 8;
  double out = flops_of(*this) * of_flop / speed + of_byte_of_filters * bytes_of(filters);
  out += is_channels_last() ? of_copies(*this, order::last) : of_copied_byte * (bytes_of(image) + bytes_of(result));
  return out;
}

}  // namespace troupe::dnn::onednn

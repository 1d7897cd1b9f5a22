// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <troupe/base/text/cat.hpp>

namespace troupe::bench {

/// A convolution of square images with square filters.
struct convolution_layer {
  std::int64_t in, out;  ///< channels
  std::int64_t size;     ///< extent of the image
  std::int64_t filter, stride = 1;
  int count = 1;  ///< how many times the network contains this convolution

  std::int64_t padding() const noexcept { return filter / 2; }
  std::int64_t result() const noexcept { return (size + 2 * padding() - filter) / stride + 1; }
  /// Returns multiplications and additions for one image: as many forward as for each gradient.
  double operations() const noexcept {
    return 2. * static_cast<double>(in * out * filter * filter) * static_cast<double>(result() * result());
  }
  std::string text() const {
    return cat(in, " -> ", out, ", ", filter, " x ", filter, stride == 1 ? "" : " by 2", " on ", size, " x ", size,
               ", ", count, count == 1 ? " time" : " times");
  }
};

/// The distinct convolutions of ResNet-50, whose blocks have their stride in the convolution of 3 x 3.
inline constexpr convolution_layer resnet50[] = {
    {3, 64, 224, 7, 2},      {64, 64, 56, 1},          {64, 64, 56, 3, 1, 3},   {64, 256, 56, 1, 1, 4},
    {256, 64, 56, 1, 1, 2},  {256, 128, 56, 1},        {128, 128, 56, 3, 2},    {128, 512, 28, 1, 1, 4},
    {256, 512, 56, 1, 2},    {512, 128, 28, 1, 1, 3},  {128, 128, 28, 3, 1, 3}, {512, 256, 28, 1},
    {256, 256, 28, 3, 2},    {256, 1024, 14, 1, 1, 6}, {512, 1024, 28, 1, 2},   {1024, 256, 14, 1, 1, 5},
    {256, 256, 14, 3, 1, 5}, {1024, 512, 14, 1},       {512, 512, 14, 3, 2},    {512, 2048, 7, 1, 1, 3},
    {1024, 2048, 14, 1, 2},  {2048, 512, 7, 1, 1, 2},  {512, 512, 7, 3, 1, 2}};
static_assert(std::accumulate(std::begin(resnet50), std::end(resnet50), 0,
                              [](int n, const convolution_layer& l) { return n + l.count; }) == 53);

}  // namespace troupe::bench

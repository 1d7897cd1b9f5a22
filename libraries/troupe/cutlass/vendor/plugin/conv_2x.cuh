// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Two-dimensional convolutions as implicit products.
#include "host_2x.cuh"

#include <cutlass/conv/conv2d_problem_size.h>
#include <cutlass/conv/device/implicit_gemm_convolution.h>

namespace troupe_vendor {

/// The functions of a kernel variant for a convolution.
template <class Kernel, int Capability>
struct conv_2x {
  using kernel = Kernel;
  using parameters = typename kernel::Params;
  using arguments = typename kernel::Arguments;
  using swizzle = typename kernel::ThreadblockSwizzle;
  using device = cutlass::conv::device::ImplicitGemmConvolution<kernel>;
  using element = typename kernel::ElementA;
  static constexpr auto direction = kernel::kConvolutionalOperator;

  static arguments arguments_for(const launch& l) {
    const auto out = [](int size, int pad, int filter, int dilation, int stride) {
      return (size + 2 * pad - ((filter - 1) * dilation + 1)) / stride + 1;
    };
    const int p = out(l.height, l.pad_height, l.filter_height, l.dilation_height, l.stride_height);
    const int q = out(l.width, l.pad_width, l.filter_width, l.dilation_width, l.stride_width);
    const cutlass::conv::Conv2dProblemSize problem(l.images, l.height, l.width, l.channels, l.filters, l.filter_height,
                                                   l.filter_width, p, q, l.pad_height, l.pad_width, l.stride_height,
                                                   l.stride_width, l.dilation_height, l.dilation_width,
                                                   cutlass::conv::Mode::kCrossCorrelation, 1, 1);
    const auto packed = [](int h, int w, int c) { return nhwc({c, w * c, h * w * c}); };
    const nhwc image = packed(l.height, l.width, l.channels), result = packed(p, q, l.filters),
               filter = packed(l.filter_height, l.filter_width, l.channels);
    const nhwc a = direction == cutlass::conv::Operator::kFprop ? image : result;
    const nhwc b = direction == cutlass::conv::Operator::kWgrad ? image : filter;
    const nhwc d = direction == cutlass::conv::Operator::kFprop   ? result
                   : direction == cutlass::conv::Operator::kDgrad ? image
                                                                  : filter;
    const auto of = [](const void* p) { return static_cast<element*>(const_cast<void*>(p)); };
    return {problem, {of(l.a), a}, {of(l.b), b}, {of(l.c), d}, {of(l.d), d}, {l.alpha, l.beta}};
  }
  static int can_compute(const launch* l) { return outcome_of(device::can_implement(arguments_for(*l))); }
  static int fill(const launch* l, void*, void* to, grid* g) {
    auto* const p = new (to) parameters(arguments_for(*l), nullptr);
    const dim3 d = swizzle().get_grid_shape(p->grid_tiled_shape);
    *g = {d.x, d.y, d.z, kernel::kThreadCount, sizeof(typename kernel::SharedStorage)};
    return accepted;
  }
  static kernel_variant describe() {
    using cutlass::conv::Operator;
    kernel_variant c{};
    c.kind = direction == Operator::kFprop   ? conv_forward
             : direction == Operator::kDgrad ? conv_data_gradient
                                             : conv_weight_gradient;
    c.capability = Capability;
    c.a = c.b = c.c = c.d = name_of<element>();
    c.a_layout = "nhwc", c.b_layout = direction == Operator::kWgrad ? "nhwc" : "krsc",
    c.d_layout = direction == Operator::kWgrad ? "krsc" : "nhwc";
    c.a_alignment = c.b_alignment = c.d_alignment = elements_of_16_bytes<element>;
    describe_2x<kernel>(c);
    c.can_compute = can_compute, c.enqueue = enqueue_2x<conv_2x>, c.fill = fill;
    return c;
  }
};

}  // namespace troupe_vendor

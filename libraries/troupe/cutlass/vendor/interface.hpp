// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The interface between the plug-in with CUTLASS's kernels and the code that loads it. Different compilers compile the
/// two, so the interface has plain C types and includes no header of CUTLASS or CUDA.
namespace troupe::cutlass::vendor {

/// The version of the interface, which increases with each change of the types below.
inline constexpr unsigned interface_version = 1;

enum variant_kind : int {
  product,
  scaled_product,
  grouped_product,
  conv_forward,
  conv_data_gradient,
  conv_weight_gradient
};

/// The outcome of a kernel variant's check or launch.
enum outcome : int { accepted, rejected, misaligned, no_workspace, cuda_failed, failed };

/// A product or a convolution to compute. Operands are in device memory; leading dimensions and strides are in
/// elements. For convolutions, a, b and d are CUTLASS's A, B and D: image, filter, result for `conv_forward`; gradient
/// of the result, filter, gradient of the image for `conv_data_gradient`; gradient of the result, image, gradient of
/// the filter for `conv_weight_gradient`. c has the shape of d. All are dense: images are NHWC, filters KRSC.
struct launch {
  int m, n, k, batch;
  const void *a, *b, *c;
  void* d;
  long long a_line, b_line, c_line, d_line;
  long long a_batch, b_batch, c_batch, d_batch;
  float alpha, beta;
  const void* bias;                 ///< n values of d's type, for kernels with `bias`
  const void *a_scales, *b_scales;  ///< for scaled products, in the order of the kernel's scale_offset functions
  int multiprocessors;              ///< multiprocessors to use; 0: all
  int swizzle;                      ///< number of adjacent tiles that are computed together to share a factor; 0: 1
  // A grouped product. The arrays are in device memory and have one element for each group; `shapes` has m, n, k.
  int groups;
  const int* shapes;
  const void *const *group_a, *const *group_b, *const *group_c;
  void* const* group_d;
  const long long *group_a_line, *group_b_line, *group_c_line, *group_d_line;
  // A convolution.
  int images, height, width, channels, filters, filter_height, filter_width;
  int pad_height, pad_width, stride_height, stride_width, dilation_height, dilation_width;
};

/// The launch configuration of a kernel that was compiled at run time.
struct grid {
  unsigned x, y, z, threads, shared_bytes;
};

/// A kernel with one tile, compiled for an architecture.
struct kernel_variant {
  const char* name;
  int kind;
  const char *a, *b, *c, *d, *accumulator;
  const char* scale;                           ///< type of the scales of a's and b's blocks; null: no scales
  int scale_block;                             ///< terms that share a scale
  const char *a_layout, *b_layout, *d_layout;  ///< row, column, nhwc, krsc
  int a_alignment, b_alignment, d_alignment;   ///< alignment of addresses, lines and strides, in elements
  int tile_m, tile_n, tile_k, stages;
  int cluster_m, cluster_n;
  const char* schedule;
  const char* epilogue;
  int bias;                  ///< 1 if the kernel reads `bias`
  int capability;            ///< 10 * major + minor of the GPU that the kernel was made for
  const char* machine_code;  ///< architectures with machine code, such as "sm_80 sm_90"
  int threads, shared_bytes;
  unsigned parameter_bytes;  ///< size of the parameters according to the host compiler

  /// Asks CUTLASS whether the kernel can compute a launch. Returns accepted, rejected or misaligned.
  int (*can_compute)(const launch*);
  long long (*workspace_bytes)(const launch*);
  /// Enqueues the kernel on the CUstream in the current context. Returns accepted, or the reason of the failure.
  int (*enqueue)(const launch*, void* workspace, long long bytes, void* stream);
  /// Reads the size of the parameters according to the device code on the current device.
  int (*read_parameter_bytes)(unsigned* bytes);
  /// Returns the offset, in elements, of the scale of a line and a block from the first scale of a matrix; null: no
  /// scales.
  long long (*a_scale_offset)(const launch*, int line, int block);
  long long (*b_scale_offset)(const launch*, int line, int block);

  // For compilation at run time; null for kernels that NVRTC cannot compile.
  /// The kernel's type, as <troupe_vendor/kernels_2x.cuh> defines it: see source_for_nvrtc.
  const char* source;
  /// Writes parameter_bytes of parameters, and the grid.
  int (*fill)(const launch*, void* workspace, void* parameters, grid*);
};

/// The contents of the plug-in.
struct table {
  unsigned version;
  unsigned variant_bytes, launch_bytes;  ///< sizes of the types above
  int count;
  const kernel_variant* const* variants;
  const char* cutlass_version;
  const char* compiler;
  const char* headers;         ///< the folder of CUTLASS's headers that the plug-in was built with
  const char* kernels_header;  ///< the text of <troupe_vendor/kernels_2x.cuh>
};

/// The only symbol of the plug-in.
using get_table = const table* (*)();
inline constexpr const char* table_symbol = "troupe_cutlass_variants";

}  // namespace troupe::cutlass::vendor

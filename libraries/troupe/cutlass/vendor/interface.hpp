// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Interface between the plug-in with CUTLASS's kernels and the code that loads it. Plain C types, and no header of
/// CUTLASS or CUDA: both sides are compiled by different compilers.
namespace troupe::cutlass::vendor {

/// Differs for each change of the types below.
inline constexpr unsigned interface_version = 1;

enum variant_kind : int {
  product,
  scaled_product,
  grouped_product,
  conv_forward,
  conv_data_gradient,
  conv_weight_gradient
};

/// Result of a kernel variant's check or launch.
enum verdict : int { taken, not_taken, misaligned, no_workspace, cuda_failed, failed };

/// Operands in device memory. Leading dimensions and strides are in elements.
/// For convolutions a, b and d are what CUTLASS calls A, B and D: image, filter, result for `conv_forward`; gradient of
/// the result, filter, gradient of the image for `conv_data_gradient`; gradient of the result, image, gradient of the
/// filter for `conv_weight_gradient`. c has the shape of d. All are packed: NHWC, and KRSC for filters.
struct launch {
  int m, n, k, batch;
  const void *a, *b, *c;
  void* d;
  long long a_line, b_line, c_line, d_line;
  long long a_batch, b_batch, c_batch, d_batch;
  float alpha, beta;
  const void* bias;                 ///< n values of d's type, for kernels with `bias`
  const void *a_scales, *b_scales;  ///< for scaled products, in the order of the kernel's scale_place functions
  int multiprocessors;              ///< to use; 0: all
  int swizzle;                      ///< tiles side by side that share a factor; 0: one
  // A grouped product: all in device memory, one for each group. `shapes` has m, n, k of each.
  int groups;
  const int* shapes;
  const void *const *group_a, *const *group_b, *const *group_c;
  void* const* group_d;
  const long long *group_a_line, *group_b_line, *group_c_line, *group_d_line;
  // A convolution.
  int images, height, width, channels, filters, filter_height, filter_width;
  int pad_height, pad_width, stride_height, stride_width, dilation_height, dilation_width;
};

/// Grid of a kernel that was compiled at run time.
struct grid {
  unsigned x, y, z, threads, shared_bytes;
};

/// A kernel with its tile, compiled for an architecture.
struct kernel_variant {
  const char* name;
  int kind;
  const char *a, *b, *c, *d, *accumulator;
  const char* scale;                           ///< type of the scales of a's and b's blocks; null: none
  int scale_block;                             ///< terms that share a scale
  const char *a_layout, *b_layout, *d_layout;  ///< row, column, nhwc, krsc
  int a_alignment, b_alignment, d_alignment;   ///< elements: of addresses, lines and strides
  int tile_m, tile_n, tile_k, stages;
  int cluster_m, cluster_n;
  const char* schedule;
  const char* epilogue;
  int bias;                  ///< 1 if `bias` is read
  int capability;            ///< 10 * major + minor of the GPU that it was made for
  const char* machine_code;  ///< architectures with machine code, such as "sm_80 sm_90"
  int threads, shared_bytes;
  unsigned parameter_bytes;  ///< of the kernel, as the host's compiler lays them out

  /// Checks whether CUTLASS can compute a launch; returns taken, not_taken or misaligned.
  int (*can_take)(const launch*);
  long long (*workspace_bytes)(const launch*);
  /// Enqueues the kernel on the CUstream in the current context. Returns taken, or what failed.
  int (*enqueue)(const launch*, void* workspace, long long bytes, void* stream);
  /// Sets the size of the parameters according to the kernel on the current device.
  int (*ask_device)(unsigned* bytes);
  /// Returns the offset in elements from the first scale of a to that of line and block, for one matrix; null: no
  /// scales.
  long long (*a_scale_place)(const launch*, int line, int block);
  long long (*b_scale_place)(const launch*, int line, int block);

  // Run-time compilation; null for kernels that NVRTC cannot compile.
  /// A kernel `troupe_cell` with one parameter of parameter_bytes, which includes <troupe_vendor/kernels_2x.cuh>.
  const char* source;
  /// Writes parameter_bytes of parameters, and how to launch.
  int (*fill)(const launch*, void* workspace, void* parameters, grid*);
};

struct table {
  unsigned version;
  unsigned variant_bytes, launch_bytes;  ///< sizes of the types above
  int count;
  const kernel_variant* const* variants;
  const char* cutlass_version;
  const char* compiler;
  const char* headers;         ///< CUTLASS's folder of headers that was used
  const char* kernels_header;  ///< the text of <troupe_vendor/kernels_2x.cuh>
};

/// The only symbol of the plug-in.
using get_table = const table* (*)();
inline constexpr const char* table_symbol = "troupe_cutlass_cells";

}  // namespace troupe::cutlass::vendor

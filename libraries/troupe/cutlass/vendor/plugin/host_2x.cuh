// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Kernels of the 2.x style. nvcc compiles them for the plug-in; the parameters that its host code fills are also those
// of the kernels that NVRTC compiles.

#include "kernels_2x.cuh"
#include "variant.cuh"

namespace troupe_vendor {

/// Sets the fields of the description that products and convolutions share.
template <class Kernel>
void describe_2x(kernel_variant& c) {
  using tile = typename Kernel::ThreadblockShape;
  c.accumulator = "f32", c.schedule = "multistage", c.epilogue = "alpha * acc + beta * c";
  c.tile_m = tile::kM, c.tile_n = tile::kN, c.tile_k = tile::kK, c.stages = Kernel::kStages;
  c.cluster_m = c.cluster_n = 1;
  c.threads = Kernel::kThreadCount, c.shared_bytes = sizeof(typename Kernel::SharedStorage);
  c.workspace_bytes = [](const launch*) -> long long { return 0; };
}

/// Launches the kernel with the parameters and the grid that `fill` writes.
template <class Variant>
int enqueue_2x(const launch* l, void* workspace, long long, void* stream) {
  typename Variant::parameters parameters;
  grid g;
  if (const int v = Variant::fill(l, workspace, &parameters, &g); v != accepted) return v;
  const auto kernel = run_2x<typename Variant::kernel>;
  if (g.shared_bytes > 48 * 1024 &&
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(g.shared_bytes)) != cudaSuccess)
    return cuda_failed;
  kernel<<<dim3(g.x, g.y, g.z), g.threads, g.shared_bytes, static_cast<cudaStream_t>(stream)>>>(parameters);
  return cudaGetLastError() == cudaSuccess ? accepted : cuda_failed;
}

/// The functions of a kernel variant for a product.
template <class Kernel, int Capability>
struct product_2x {
  using kernel = Kernel;
  using parameters = typename kernel::Params;
  using arguments = typename kernel::Arguments;
  using swizzle = typename kernel::ThreadblockSwizzle;

  static arguments arguments_for(const launch& l) {
    const auto mode =
        l.batch > 1 ? cutlass::gemm::GemmUniversalMode::kBatched : cutlass::gemm::GemmUniversalMode::kGemm;
    return arguments(mode, {l.m, l.n, l.k}, l.batch, {l.alpha, l.beta}, l.a, l.b, l.c, l.d, l.a_batch, l.b_batch,
                     l.c_batch, l.d_batch, l.a_line, l.b_line, l.c_line, l.d_line);
  }
  static int can_compute(const launch* l) { return outcome_of(kernel::can_implement(arguments_for(*l))); }
  static int fill(const launch* l, void*, void* to, grid* g) {
    // The number of multiprocessors and their blocks has no effect without split-K.
    auto* const p = new (to) parameters(arguments_for(*l), 1, 1);
    const dim3 d = swizzle().get_grid_shape(p->grid_tiled_shape);
    *g = {d.x, d.y, d.z, kernel::kThreadCount, sizeof(typename kernel::SharedStorage)};
    return accepted;
  }
  static kernel_variant describe() {
    kernel_variant c{};
    c.kind = product, c.capability = Capability;
    c.a = name_of<typename kernel::ElementA>(), c.b = name_of<typename kernel::ElementB>(),
    c.c = c.d = name_of<typename kernel::ElementC>();
    c.a_layout = layout_name<typename kernel::LayoutA>(), c.b_layout = layout_name<typename kernel::LayoutB>(),
    c.d_layout = "row";
    c.a_alignment = kernel::kAlignmentA, c.b_alignment = kernel::kAlignmentB, c.d_alignment = kernel::kAlignmentC;
    describe_2x<kernel>(c);
    c.can_compute = can_compute, c.enqueue = enqueue_2x<product_2x>, c.fill = fill;
    return c;
  }
};

}  // namespace troupe_vendor

/// Defines a kernel that NVRTC can compile: TROUPE_VARIANT_2X(name, product_2x, capability, the kernel's type).
#define TROUPE_VARIANT_2X(name, family, capability, ...)                             \
  struct name : family<__VA_ARGS__, capability> {                                    \
    static troupe_vendor::kernel_variant describe() {                                \
      troupe_vendor::kernel_variant c = family<__VA_ARGS__, capability>::describe(); \
      c.source = #__VA_ARGS__;                                                       \
      return c;                                                                      \
    }                                                                                \
  };                                                                                 \
  TROUPE_VARIANT(name, name)

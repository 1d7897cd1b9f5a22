// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Kernels of the 3.x style, which CUTLASS's builders compose from a configuration: see gemm_3x_defaults.
#include <cutlass/gemm/device/gemm_universal_adapter.h>
#include <atomic>
#include <cutlass/epilogue/collective/collective_builder.hpp>
#include <cutlass/gemm/collective/collective_builder.hpp>
#include <cutlass/gemm/kernel/gemm_universal.hpp>

#include "variant.cuh"

namespace troupe_vendor {

using cute::Int;
using cutlass::bfloat16_t, cutlass::half_t, cutlass::float_e4m3_t, cutlass::float_e2m1_t;
template <int M, int N, int K>
using shape = cute::Shape<Int<M>, Int<N>, Int<K>>;

/// The defaults of a configuration. A configuration derives from it, and adds factor, result, tile and
/// factor_alignment.
struct gemm_3x_defaults {
  static constexpr int capability = 90;
  using architecture = cutlass::arch::Sm90;
  using instructions = cutlass::arch::OpClassTensorOp;
  using a_layout = cutlass::layout::RowMajor;
  using b_layout = cutlass::layout::ColumnMajor;
  using cluster = shape<2, 1, 1>;
  using mainloop = cutlass::gemm::KernelTmaWarpSpecializedCooperative;
  using epilogue = cutlass::epilogue::TmaWarpSpecializedCooperative;
  using scheduler = void;
  using problem = cute::Shape<int, int, int, int>;
  template <class Epilogue>  // the stages get the shared memory that the epilogue leaves
  using stages = cutlass::gemm::collective::StageCountAutoCarveout<int(sizeof(typename Epilogue::SharedStorage))>;
  template <class D>
  using fusion = cutlass::epilogue::fusion::LinearCombination<D, float>;
  static constexpr const char* schedule_name = "cooperative";
  static constexpr const char* epilogue_name = "alpha * acc + beta * c";
};

/// The type of a factor's elements, without the type of their scales.
template <class T>
struct plain_element {
  using type = T;
};
template <class T>
  requires requires { typename T::ScaleFactorType; }
struct plain_element<T> {
  using type = typename T::DataType;
};

/// CUTLASS's types for a configuration.
template <class Config>
struct gemm_3x_types {
  using a = typename Config::factor;
  using d = typename Config::result;
  static constexpr int factor_alignment = Config::factor_alignment,
                       result_alignment = 128 / cutlass::sizeof_bits<d>::value;
  // The layout of an operand; for groups a pointer to a layout, which stands for an array of strides.
  template <class Layout>
  using layout = std::conditional_t<cute::is_tuple<typename Config::problem>::value, Layout, Layout*>;
  using row = layout<cutlass::layout::RowMajor>;

  using epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<
      typename Config::architecture, typename Config::instructions, typename Config::tile, typename Config::cluster,
      cutlass::epilogue::collective::EpilogueTileAuto, float, float, d, row, result_alignment, d, row, result_alignment,
      typename Config::epilogue, typename Config::template fusion<d>>::CollectiveOp;
  using mainloop = typename cutlass::gemm::collective::CollectiveBuilder<
      typename Config::architecture, typename Config::instructions, a, layout<typename Config::a_layout>,
      factor_alignment, a, layout<typename Config::b_layout>, factor_alignment, float, typename Config::tile,
      typename Config::cluster, typename Config::template stages<epilogue>, typename Config::mainloop>::CollectiveOp;
  using base =
      cutlass::gemm::kernel::GemmUniversal<typename Config::problem, mainloop, epilogue, typename Config::scheduler>;

  /// The kernel, with a short name: g++ 12 confuses the full name of one of the kernels, which nvcc writes into its
  /// input, with another type.
  struct kernel : base {
    struct Params : base::Params {};
    static Params to_underlying_arguments(const typename base::Arguments& a, void* workspace) {
      return {base::to_underlying_arguments(a, workspace)};
    }
  };
  using device = cutlass::gemm::device::GemmUniversalAdapter<kernel>;
  using parameters = typename kernel::Params;
  using arguments = typename device::Arguments;
};

/// Returns the number of clusters of a kernel that the current device holds at once; often fewer than multiprocessors /
/// blocks of a cluster.
template <class Types>
int clusters_at_once() {
  static std::atomic<int> known[16]{};
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess || device >= 16) return 0;
  if (const int n = known[device].load(std::memory_order_relaxed); n > 0) return n;
  using cluster = typename Types::kernel::ClusterShape;
  const int n = cutlass::KernelHardwareInfo::query_device_max_active_clusters(
      dim3(cute::size<0>(cluster{}), cute::size<1>(cluster{}), 1), Types::kernel::MaxThreadsPerBlock,
      reinterpret_cast<void const*>(cutlass::device_kernel<typename Types::kernel>));
  known[device].store(n, std::memory_order_relaxed);
  return n;
}

inline cutlass::KernelHardwareInfo hardware_for(const launch& l) {
  cutlass::KernelHardwareInfo h;
  cudaGetDevice(&h.device_id);
  h.sm_count = multiprocessors_for(l);
  return h;
}

/// The functions of a kernel variant that products and grouped products share.
template <class Variant, class Types, class Config>
struct host_3x {
  static int can_compute(const launch* l) {
    return outcome_of(Types::device::can_implement(Variant::arguments_for(*l, {})));
  }
  static long long workspace_bytes(const launch* l) {
    return (long long)Types::device::get_workspace_size(Variant::arguments_for(*l, hardware_for(*l)));
  }
  static int enqueue(const launch* l, void* workspace, long long bytes, void* stream) {
    auto hardware = hardware_for(*l);
    if (l->multiprocessors <= 0) hardware.max_active_clusters = clusters_at_once<Types>();
    const auto arguments = Variant::arguments_for(*l, hardware);
    if (bytes < (long long)Types::device::get_workspace_size(arguments)) return no_workspace;
    typename Types::device device;
    const auto s = static_cast<cudaStream_t>(stream);
    if (const auto status = device.initialize(arguments, workspace, s); status != cutlass::Status::kSuccess)
      return outcome_of(status);
    return outcome_of(device.run(s));
  }
  static kernel_variant describe() {
    using tile = typename Config::tile;
    using kernel = typename Types::kernel;
    kernel_variant c{};
    c.kind = product, c.capability = Config::capability, c.schedule = Config::schedule_name,
    c.epilogue = Config::epilogue_name;
    c.a = c.b = name_of<typename plain_element<typename Config::factor>::type>(),
    c.c = c.d = name_of<typename Config::result>();
    c.accumulator = "f32";
    c.a_layout = layout_name<typename Config::a_layout>(), c.b_layout = layout_name<typename Config::b_layout>(),
    c.d_layout = "row";
    c.a_alignment = c.b_alignment = Types::factor_alignment, c.d_alignment = Types::result_alignment;
    c.tile_m = cute::size<0>(tile{}), c.tile_n = cute::size<1>(tile{}), c.tile_k = cute::size<2>(tile{});
    c.cluster_m = cute::size<0>(typename Config::cluster{}), c.cluster_n = cute::size<1>(typename Config::cluster{});
    c.stages = Types::mainloop::DispatchPolicy::Stages;
    c.threads = kernel::MaxThreadsPerBlock, c.shared_bytes = kernel::SharedStorageSize;
    c.can_compute = can_compute, c.workspace_bytes = workspace_bytes, c.enqueue = enqueue;
    return c;
  }
};

/// The functions of a kernel variant for a product.
template <class Config>
struct gemm_3x : host_3x<gemm_3x<Config>, gemm_3x_types<Config>, Config> {
  using types = gemm_3x_types<Config>;
  using kernel = typename types::kernel;
  using parameters = typename types::parameters;
  using arguments = typename types::arguments;
  static constexpr bool scaled = requires { typename types::mainloop::ElementSF; };
  static constexpr bool biased = requires(arguments& a) { a.epilogue.thread.bias_ptr; };

  /// Returns the strides of a matrix with contiguous lines: from line to line, and from matrix to matrix.
  template <class Stride>
  static Stride stride(long long line, long long batch, int count) {
    Stride s{};
    if constexpr (cute::is_constant_v<1, decltype(cute::get<0>(Stride{}))>)
      cute::get<1>(s) = line;
    else
      cute::get<0>(s) = line;
    cute::get<2>(s) = count > 1 ? batch : 0;
    return s;
  }
  static arguments arguments_for(const launch& l, const cutlass::KernelHardwareInfo& hardware) {
    arguments a{};
    a.mode = l.batch > 1 ? cutlass::gemm::GemmUniversalMode::kBatched : cutlass::gemm::GemmUniversalMode::kGemm;
    a.problem_shape = {l.m, l.n, l.k, l.batch};
    a.hw_info = hardware;
    auto& m = a.mainloop;
    m.ptr_A = static_cast<decltype(m.ptr_A)>(l.a), m.ptr_B = static_cast<decltype(m.ptr_B)>(l.b);
    m.dA = stride<typename kernel::StrideA>(l.a_line, l.a_batch, l.batch),
    m.dB = stride<typename kernel::StrideB>(l.b_line, l.b_batch, l.batch);
    if constexpr (scaled) {
      using order = typename types::mainloop::Sm1xxBlkScaledConfig;
      m.ptr_SFA = static_cast<decltype(m.ptr_SFA)>(l.a_scales),
      m.ptr_SFB = static_cast<decltype(m.ptr_SFB)>(l.b_scales);
      m.layout_SFA = order::tile_atom_to_shape_SFA(a.problem_shape),
      m.layout_SFB = order::tile_atom_to_shape_SFB(a.problem_shape);
    }
    auto& e = a.epilogue;
    e.thread.alpha = l.alpha, e.thread.beta = l.beta;
    if constexpr (biased) e.thread.bias_ptr = static_cast<decltype(e.thread.bias_ptr)>(l.bias);
    e.ptr_C = static_cast<decltype(e.ptr_C)>(l.c), e.ptr_D = static_cast<decltype(e.ptr_D)>(l.d);
    e.dC = stride<typename kernel::StrideC>(l.c_line, l.c_batch, l.batch),
    e.dD = stride<typename kernel::StrideD>(l.d_line, l.d_batch, l.batch);
    if constexpr (requires { a.scheduler.max_swizzle_size; })
      a.scheduler.max_swizzle_size = l.swizzle > 0 ? l.swizzle : 1;
    return a;
  }
  static kernel_variant describe() {
    kernel_variant c = host_3x<gemm_3x, types, Config>::describe();
    c.bias = biased;
    if constexpr (scaled) {
      c.kind = scaled_product;
      c.scale = name_of<typename types::mainloop::ElementSF>(),
      c.scale_block = types::mainloop::Sm1xxBlkScaledConfig::SFVecSize;
      c.a_scale_offset = [](const launch* l, int line, int block) {
        return (long long)arguments_for(*l, {}).mainloop.layout_SFA(
            cute::make_coord(line, block * types::mainloop::Sm1xxBlkScaledConfig::SFVecSize, 0));
      };
      c.b_scale_offset = [](const launch* l, int line, int block) {
        return (long long)arguments_for(*l, {}).mainloop.layout_SFB(
            cute::make_coord(line, block * types::mainloop::Sm1xxBlkScaledConfig::SFVecSize, 0));
      };
    }
    return c;
  }
};

}  // namespace troupe_vendor

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Code that all kernels of the plug-in share: names of types, and their descriptions.
#include <cuda_runtime_api.h>
#include <cutlass/cutlass.h>
#include <cutlass/layout/matrix.h>
#include <cutlass/numeric_types.h>
#include <troupe/cutlass/vendor/interface.hpp>
#include <type_traits>

namespace troupe_vendor {

using namespace troupe::cutlass::vendor;

template <class T>
constexpr const char* name_of() {
  if constexpr (std::is_same_v<T, cutlass::half_t>)
    return "f16";
  else if constexpr (std::is_same_v<T, cutlass::bfloat16_t>)
    return "bf16";
  else if constexpr (std::is_same_v<T, cutlass::tfloat32_t>)
    return "tf32";
  else if constexpr (std::is_same_v<T, float>)
    return "f32";
  else if constexpr (std::is_same_v<T, cutlass::float_e4m3_t>)
    return "e4m3";
  else if constexpr (std::is_same_v<T, cutlass::float_e2m1_t>)
    return "e2m1";
  else if constexpr (std::is_same_v<T, cutlass::float_ue8m0_t>)
    return "ue8m0";
  else if constexpr (std::is_same_v<T, cutlass::float_ue4m3_t>)
    return "ue4m3";
  else
    static_assert(!sizeof(T), "name this type");
}

template <class T>
constexpr const char* layout_name() {
  if constexpr (std::is_same_v<T, cutlass::layout::RowMajor>)
    return "row";
  else if constexpr (std::is_same_v<T, cutlass::layout::ColumnMajor>)
    return "column";
  else
    static_assert(!sizeof(T), "name this layout");
}

inline int verdict_of(cutlass::Status status) {
  switch (status) {
    case cutlass::Status::kSuccess:
      return taken;
    case cutlass::Status::kErrorMisalignedOperand:
      return misaligned;
    case cutlass::Status::kErrorWorkspaceNull:
      return no_workspace;
    case cutlass::Status::kErrorInternal:
      return cuda_failed;
    case cutlass::Status::kInvalid:  // the status that kernels of the 3.x style return for everything
    case cutlass::Status::kErrorInvalidProblem:
    case cutlass::Status::kErrorNotSupported:
      return not_taken;
    default:
      return failed;
  }
}

/// Returns how many multiprocessors a launch uses.
inline int multiprocessors_for(const launch& l) {
  if (l.multiprocessors > 0) return l.multiprocessors;
  int device = 0, count = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device) != cudaSuccess)
    return 1;
  return count;
}

inline kernel_variant finish(kernel_variant c, const char* name, unsigned parameter_bytes,
                             int (*ask_device)(unsigned*)) {
  c.name = name, c.machine_code = TROUPE_MACHINE_CODE, c.parameter_bytes = parameter_bytes, c.ask_device = ask_device;
  return c;
}

}  // namespace troupe_vendor

/// Defines a kernel variant of a type with `describe()` and `parameters`. The variable is the size of the parameters
/// according to the device's compiler.
#define TROUPE_VARIANT(variant_name, ...)                                                             \
  static __device__ unsigned device_bytes_of_##variant_name = sizeof(__VA_ARGS__::parameters);        \
  static int ask_##variant_name(unsigned* bytes) {                                                    \
    const cudaError_t e = cudaMemcpyFromSymbol(bytes, device_bytes_of_##variant_name, sizeof *bytes); \
    return e == cudaSuccess ? troupe_vendor::taken : troupe_vendor::cuda_failed;                      \
  }                                                                                                   \
  extern "C" const troupe_vendor::kernel_variant* troupe_variant_##variant_name() {                   \
    static const troupe_vendor::kernel_variant made = troupe_vendor::finish(                          \
        __VA_ARGS__::describe(), #variant_name, sizeof(__VA_ARGS__::parameters), ask_##variant_name); \
    return &made;                                                                                     \
  }

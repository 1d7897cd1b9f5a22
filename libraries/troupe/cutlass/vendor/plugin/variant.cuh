// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Code that all kernels of the plug-in share: the names of types and the descriptions of kernels.
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

inline int outcome_of(cutlass::Status status) {
  switch (status) {
    case cutlass::Status::kSuccess:
      return accepted;
    case cutlass::Status::kErrorMisalignedOperand:
      return misaligned;
    case cutlass::Status::kErrorWorkspaceNull:
      return no_workspace;
    case cutlass::Status::kErrorInternal:
      return cuda_failed;
    case cutlass::Status::kInvalid:  // kernels of the 3.x style return this status for each reason
    case cutlass::Status::kErrorInvalidProblem:
    case cutlass::Status::kErrorNotSupported:
      return rejected;
    default:
      return failed;
  }
}

/// Returns the number of multiprocessors that a launch uses.
inline int multiprocessors_for(const launch& l) {
  if (l.multiprocessors > 0) return l.multiprocessors;
  int device = 0, count = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device) != cudaSuccess)
    return 1;
  return count;
}

/// Adds the fields that depend on the source file to a description.
inline kernel_variant complete(kernel_variant c, const char* name, unsigned parameter_bytes,
                               int (*read_parameter_bytes)(unsigned*)) {
  c.name = name, c.machine_code = TROUPE_MACHINE_CODE, c.parameter_bytes = parameter_bytes,
  c.read_parameter_bytes = read_parameter_bytes;
  return c;
}

}  // namespace troupe_vendor

/// Defines a kernel variant, described by a type with `describe()` and `parameters`. The __device__ variable is the
/// size of the parameters according to the compiler of device code.
#define TROUPE_VARIANT(variant_name, ...)                                                              \
  static __device__ unsigned device_bytes_of_##variant_name = sizeof(__VA_ARGS__::parameters);         \
  static int read_##variant_name(unsigned* bytes) {                                                    \
    const cudaError_t e = cudaMemcpyFromSymbol(bytes, device_bytes_of_##variant_name, sizeof *bytes);  \
    return e == cudaSuccess ? troupe_vendor::accepted : troupe_vendor::cuda_failed;                    \
  }                                                                                                    \
  extern "C" const troupe_vendor::kernel_variant* troupe_variant_##variant_name() {                    \
    static const troupe_vendor::kernel_variant made = troupe_vendor::complete(                         \
        __VA_ARGS__::describe(), #variant_name, sizeof(__VA_ARGS__::parameters), read_##variant_name); \
    return &made;                                                                                      \
  }

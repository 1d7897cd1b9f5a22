// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>

#include "elements.cuh"
#include "rows_arguments.hpp"
#include "warps.cuh"

/// Access to eight neighboring elements in memory at once.
namespace troupe::dnn::on_gpu {

constexpr int elements_per_vector = kernel_arguments::elements_per_vector;

/// Eight neighboring elements as they are stored, of a half type or f32.
template <class T>
struct eight {
  static constexpr std::size_t bytes = elements_per_vector * sizeof(T);
#ifdef __CUDA_ARCH__
  uint4 of[bytes / sizeof(uint4)];
#else
  alignas(16) unsigned char of[bytes];  // may alias any type for the host's compiler
#endif
};
/// Copies eight elements. Precondition: both addresses are multiples of 16.
template <class T>
__device__ void copy_eight(const void* from, void* to) {
#ifdef __CUDA_ARCH__
  for (std::size_t i = 0; i < eight<T>::bytes / sizeof(uint4); ++i)
    static_cast<uint4*>(to)[i] = static_cast<const uint4*>(from)[i];
#else
  std::memcpy(to, from, eight<T>::bytes);
#endif
}
template <class T>
__device__ eight<T> read_eight(const void* memory, i64 at) {
  eight<T> out;
  copy_eight<T>(static_cast<const T*>(memory) + at, &out);
  return out;
}
/// Reads eight elements if `is_there`, otherwise returns zeros. Meant for elements that a kernel reads once: they
/// bypass the L1 cache, which is left to memory that is read more often. There is no branch for half types, so that
/// several reads overlap.
template <class T>
__device__ eight<T> read_eight_once_if(bool is_there, const T* from) {
  eight<T> out{};
#ifdef __CUDA_ARCH__
  if constexpr (sizeof out == sizeof(uint4)) {
    uint4& u = out.of[0];
    asm volatile(
        "{.reg .pred there; setp.ne.u32 there, %5, 0; @there ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];}"
        : "+r"(u.x), "+r"(u.y), "+r"(u.z), "+r"(u.w)
        : "l"(from), "r"(static_cast<unsigned>(is_there)));
    return out;
  }
#endif
  // Two reads: the second finds the other half of 32 bytes in the cache.
  if (is_there) copy_eight<T>(from, &out);
  return out;
}

template <class T>
__device__ void unpack(const eight<T>& from, float (&to)[elements_per_vector]) {
  if constexpr (sizeof(T) == sizeof(float)) {
    memcpy(to, &from, sizeof to);
  } else {
    using pair = std::conditional_t<std::is_same_v<T, __half>, __half2, __nv_bfloat162>;
    pair pairs[elements_per_vector / 2];
    memcpy(static_cast<void*>(pairs), &from, sizeof pairs);
    for (int k = 0; k < elements_per_vector / 2; ++k) {
      to[2 * k] = static_cast<float>(pairs[k].x);
      to[2 * k + 1] = static_cast<float>(pairs[k].y);
    }
  }
}
template <class T>
__device__ void read_eight(const void* memory, i64 at, float (&to)[elements_per_vector]) {
  unpack(read_eight<T>(memory, at), to);
}
template <class T>
__device__ eight<T> pack(const float (&from)[elements_per_vector]) {
  eight<T> out;
  if constexpr (sizeof(T) == sizeof(float)) {
    memcpy(&out, from, sizeof out);
  } else {
    std::uint32_t pairs[elements_per_vector / 2];
    for (int k = 0; k < elements_per_vector / 2; ++k) pairs[k] = pair_of<T>(from[2 * k], from[2 * k + 1]);
    memcpy(&out, pairs, sizeof out);
  }
  return out;
}
template <class T>
__device__ void write_eight(void* memory, i64 at, const float (&from)[elements_per_vector]) {
  const eight<T> packed = pack<T>(from);
  copy_eight<T>(&packed, static_cast<T*>(memory) + at);
}
/// Writes eight elements that the kernel does not read afterward; they bypass the L1 cache.
template <class T>
__device__ void write_eight_once(T* to, const float (&from)[elements_per_vector]) {
#ifdef __CUDA_ARCH__
  if constexpr (sizeof(eight<T>) == sizeof(uint4)) {
    const uint4 u = pack<T>(from).of[0];
    asm volatile("st.global.L1::no_allocate.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(u.x), "r"(u.y), "r"(u.z),
                 "r"(u.w)
                 : "memory");
    return;
  }
#endif
  write_eight<T>(to, 0, from);
}

/// Overloads of `unpack` and `write_eight` for a type that is known at run time.
__device__ inline void unpack(const eight<float>& from, dtype, float (&to)[elements_per_vector]) { unpack(from, to); }
__device__ inline void unpack(const eight<half>& from, dtype t, float (&to)[elements_per_vector]) {
  eight<__half> halves;
  eight<__nv_bfloat16> others;
  if (t == dtype::f16)
    memcpy(&halves, &from, sizeof from), unpack(halves, to);
  else
    memcpy(&others, &from, sizeof from), unpack(others, to);
}
__device__ inline void write_eight(dtype t, void* memory, i64 at, const float (&from)[elements_per_vector]) {
  if (t == dtype::f32)
    write_eight<float>(memory, at, from);
  else if (t == dtype::f16)
    write_eight<__half>(memory, at, from);
  else
    write_eight<__nv_bfloat16>(memory, at, from);
}

__device__ inline float sum_of_eight(const float (&x)[elements_per_vector]) {
  return ((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + (x[6] + x[7]));
}

/// Begins to copy 16 bytes to shared memory. Only this thread may read them, after wait_for_copies().
__device__ inline void begin_copy(const void* from, void* to) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(to))),
               "l"(from)
               : "memory");
#else
  memcpy(to, from, 16);
#endif
}
__device__ inline void wait_for_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

}  // namespace troupe::dnn::on_gpu

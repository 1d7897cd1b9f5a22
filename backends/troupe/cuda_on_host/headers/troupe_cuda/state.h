// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// The data about the running thread that code outside of kernels reads. Kernels have constants of the same names
// instead. In front of this text, the translator defines index_in_functions, which is true if any function reads
// threadIdx.
#pragma once
#pragma GCC system_header

static thread_local uint3 threadIdx{}, blockIdx{};
static thread_local dim3 blockDim{0, 0, 0}, gridDim{0, 0, 0};

namespace troupe_cuda {

#define TROUPE_INLINE __attribute__((always_inline)) inline

using block = troupe_host_block;

static thread_local block* current = nullptr;

[[noreturn]] inline void leave(uint32_t status, const char* text, const char* file, unsigned line) {
  if (!current) __builtin_trap();  // the translator has missed a use of this data
  block& b = *current;
  b.fault = {file, line, 0, b.fibers ? b.thread : UINT32_MAX, text};
  b.services->leave(&b, status);
  __builtin_unreachable();
}

// Ends the launch. Called where code is reached that a processor cannot run.
[[noreturn, gnu::cold, gnu::noinline]] inline void unsupported(const char* why, const char* file = __builtin_FILE(),
                                                               unsigned line = __builtin_LINE()) {
  leave(TROUPE_HOST_ON_GPUS_ONLY, why, file, line);
}

[[noreturn, gnu::cold, gnu::noinline]] inline void assertion_failed(const char* condition,
                                                                    const char* file = __builtin_FILE(),
                                                                    unsigned line = __builtin_LINE()) {
  leave(TROUPE_HOST_ASSERTION, condition, file, line);
}

template <class T, class U>
inline constexpr bool same = false;
template <class T>
inline constexpr bool same<T, T> = true;

template <bool Yes, class T = void>
struct enable {};
template <class T>
struct enable<true, T> {
  using type = T;
};

template <class To, class From>
TROUPE_INLINE To bits_as(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, from);
}

}  // namespace troupe_cuda

[[noreturn, gnu::cold, gnu::noinline]] inline void __trap(const char* file = __builtin_FILE(),
                                                          unsigned line = __builtin_LINE()) {
  ::troupe_cuda::leave(TROUPE_HOST_TRAPPED, nullptr, file, line);
}
inline void __brkpt() { __builtin_trap(); }

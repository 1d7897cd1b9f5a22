// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// Helpers for the table of kernels and variables that the translator appends to an image's source.
#pragma once
#pragma GCC system_header

struct __half;
struct __half2;
struct __nv_bfloat16;
struct __nv_bfloat162;

namespace troupe_cuda {

template <class T>
inline constexpr uint32_t code = TROUPE_HOST_OTHER;
#define TROUPE_CODE(type, value) \
  template <>                    \
  inline constexpr uint32_t code<type> = value;
TROUPE_CODE(float, TROUPE_HOST_F32)
TROUPE_CODE(double, TROUPE_HOST_F64)
TROUPE_CODE(__half, TROUPE_HOST_F16)
TROUPE_CODE(__nv_bfloat16, TROUPE_HOST_BF16)
TROUPE_CODE(char, TROUPE_HOST_I8)
TROUPE_CODE(signed char, TROUPE_HOST_I8)
TROUPE_CODE(unsigned char, TROUPE_HOST_U8)
TROUPE_CODE(short, TROUPE_HOST_I16)
TROUPE_CODE(unsigned short, TROUPE_HOST_U16)
TROUPE_CODE(int, TROUPE_HOST_I32)
TROUPE_CODE(unsigned, TROUPE_HOST_U32)
TROUPE_CODE(long, TROUPE_HOST_I64)
TROUPE_CODE(unsigned long, TROUPE_HOST_U64)
TROUPE_CODE(long long, TROUPE_HOST_I64)
TROUPE_CODE(unsigned long long, TROUPE_HOST_U64)
TROUPE_CODE(bool, TROUPE_HOST_BOOL)
#undef TROUPE_CODE

// The spelling of a type, taken from the compiler.
struct spelling {
  char text[256];
};
template <class T>
constexpr spelling spell() {
  // "... [with T = const float*]" (g++), "... [T = const float *]" (clang++)
  constexpr const char* function = __PRETTY_FUNCTION__;
  spelling out{};
  int at = 0;
  while (function[at] != '\0' && !(function[at] == 'T' && function[at + 1] == ' ' && function[at + 2] == '=')) ++at;
  at += 4;
  int n = 0;
  while (function[at] != '\0' && function[at + 1] != '\0' && n < 255) out.text[n++] = function[at++];
  return out;
}
template <class T>
inline constexpr spelling spelled = spell<T>();

template <class T>
inline constexpr size_t bytes_of = sizeof(T);
template <>
inline constexpr size_t bytes_of<void> = 0;
template <class T>
inline constexpr size_t alignment_of = alignof(T);
template <>
inline constexpr size_t alignment_of<void> = 1;

template <class T>
struct unqualified {
  using type = T;
  static constexpr bool constant = false;
};
template <class T>
struct unqualified<const T> {
  using type = T;
  static constexpr bool constant = true;
};
template <class T>
struct unqualified<volatile T> {
  using type = T;
  static constexpr bool constant = false;
};
template <class T>
struct unqualified<const volatile T> {
  using type = T;
  static constexpr bool constant = true;
};

template <class T>
struct describe {
  static constexpr troupe_host_parameter value = {TROUPE_HOST_VALUE, code<T>, sizeof(T), alignof(T), spelled<T>.text};
};
template <class T>
struct describe<T*> {
  using pointee = typename unqualified<T>::type;
  static constexpr troupe_host_parameter value = {
      unqualified<T>::constant ? TROUPE_HOST_CONST_POINTER : TROUPE_HOST_POINTER, code<pointee>, bytes_of<pointee>,
      alignment_of<pointee>, spelled<T*>.text};
};

template <int... I>
struct numbers {};
template <int N, int... I>
struct count_to : count_to<N - 1, N - 1, I...> {};
template <int... I>
struct count_to<0, I...> {
  using type = numbers<I...>;
};

// Selects the kernel among functions of the same name.
template <class... P>
constexpr auto kernel_of(void (*kernel)(block&, P...)) {
  return kernel;
}

// A kernel as the launcher calls it. `State`: functions outside of kernels use the block.
template <bool State, auto Kernel>
struct entry;
template <bool State, class... P, void (*Kernel)(block&, P...)>
struct entry<State, Kernel> {
  static constexpr troupe_host_parameter parameters[sizeof...(P) + 1] = {describe<P>::value..., {}};
  static constexpr uint32_t parameter_count = sizeof...(P);

  template <int... I>
  static TROUPE_INLINE void call(block& b, numbers<I...>) {
    Kernel(b, *static_cast<P*>(b.arguments[I])...);
  }
  static uint32_t run(block* b) {
    if constexpr (State) {
      current = b;
      blockIdx = {b->index.x, b->index.y, b->index.z};
      blockDim.x = b->block.x, blockDim.y = b->block.y, blockDim.z = b->block.z;
      gridDim.x = b->grid.x, gridDim.y = b->grid.y, gridDim.z = b->grid.z;
    }
    call(*b, typename count_to<static_cast<int>(sizeof...(P))>::type());
    return TROUPE_HOST_OK;
  }

  // Lets the kernel describe what depends on its template arguments; see troupe_cuda::describes_itself.
  static troupe_host_kernel describe_as(const char* name) {
    alignas(128) static char zeros[(sizeof(P) + ... + 128)];
    void* arguments[sizeof...(P) + 1];
    for (void*& a : arguments) a = zeros;
    block question{};
    question.arguments = arguments;
    call(question, typename count_to<static_cast<int>(sizeof...(P))>::type());
    return {name,
            parameters,
            parameter_count,
            question.fault.other_line,
            question.fault.line,
            0,
            question.fault.text,
            &run,
            reinterpret_cast<const void*>(Kernel)};
  }
};

// Returns true if the kernel must describe itself instead of running: the block then has no threads, which never
// happens in a launch.
TROUPE_INLINE bool describes_itself(block& b, unsigned max_threads, unsigned how, const char* reason) {
  if (__builtin_expect(b.threads != 0, 1)) return false;
  b.fault = {nullptr, how, max_threads, 0, reason};
  return true;
}

template <class T>
struct element_of {
  using type = typename unqualified<T>::type;
};
template <class T, size_t N>
struct element_of<T[N]> : element_of<T> {};
template <class T>
constexpr troupe_host_global global(const char* name, T& variable, bool constant) {
  return {name, const_cast<typename unqualified<T>::type*>(&variable), sizeof(T), constant,
          code<typename element_of<T>::type>};
}

// Constants with the values of image.h's macros, which text that is not preprocessed again cannot use.
inline constexpr uint64_t image_magic = TROUPE_HOST_IMAGE_MAGIC;
inline constexpr uint32_t image_version = TROUPE_HOST_IMAGE_VERSION;

inline constexpr char processor[] =
#if defined(__AVX__)
    "avx "
#endif
#if defined(__AVX2__)
    "avx2 "
#endif
#if defined(__FMA__)
    "fma "
#endif
#if defined(__F16C__)
    "f16c "
#endif
#if defined(__BMI2__)
    "bmi2 "
#endif
#if defined(__AVX512F__)
    "avx512f "
#endif
#if defined(__AVX512BW__)
    "avx512bw "
#endif
#if defined(__AVX512DQ__)
    "avx512dq "
#endif
#if defined(__AVX512VL__)
    "avx512vl "
#endif
#if defined(__AVX512VBMI__)
    "avx512vbmi "
#endif
#if defined(__AVX512BF16__)
    "avx512bf16 "
#endif
    "";

}  // namespace troupe_cuda

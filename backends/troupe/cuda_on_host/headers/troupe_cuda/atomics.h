// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// Atomic functions. Blocks run at the same time, so these are the processor's atomics; as in CUDA, they do not order
// other accesses. Functions of block scope are not atomic, because all threads of a block run on one system thread.
#pragma once
#pragma GCC system_header

namespace troupe_cuda {

struct device_scope {
  template <class T>
  static TROUPE_INLINE T load(T* at) {
    return __atomic_load_n(at, __ATOMIC_RELAXED);
  }
  template <class T>
  static TROUPE_INLINE bool replace(T* at, T& expected, T desired) {
    return __atomic_compare_exchange_n(at, &expected, desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  }
};
// The empty statements keep the compiler from vectorizing: it must not read for several threads before it writes for
// the first of them.
struct block_scope {
  template <class T>
  static TROUPE_INLINE T load(T* at) {
    asm volatile("" ::: "memory");
    return *at;
  }
  template <class T>
  static TROUPE_INLINE bool replace(T* at, T& expected, T desired) {
    const T now = *at;
    if (now != expected) {
      expected = now;
      return false;
    }
    *at = desired;
    asm volatile("" ::: "memory");
    return true;
  }
};

template <size_t Bytes>
struct word_of;
template <>
struct word_of<2> {
  using type = uint16_t;
};
template <>
struct word_of<4> {
  using type = uint32_t;
};
template <>
struct word_of<8> {
  using type = uint64_t;
};

// Replaces *at by f(*at) and returns the old value.
template <class Scope, class T, class F>
TROUPE_INLINE T change(T* at, F f) {
  using word = typename word_of<sizeof(T)>::type;
  auto* w = reinterpret_cast<word*>(at);
  word expected = Scope::load(w);
  for (;;) {
    const T before = bits_as<T>(expected);
    if (Scope::replace(w, expected, bits_as<word>(static_cast<T>(f(before))))) return before;
  }
}

}  // namespace troupe_cuda

#define TROUPE_CHANGE(name, scope, T, expression)                                 \
  TROUPE_INLINE T name(T* at, T value) {                                          \
    return ::troupe_cuda::change<::troupe_cuda::scope>(                           \
        at, [=](T old) __attribute__((always_inline))->T { return expression; }); \
  }
#define TROUPE_FETCH(name, T, builtin) \
  TROUPE_INLINE T name(T* at, T value) { return builtin(at, value, __ATOMIC_RELAXED); }

// All scopes of one operation: those of the device and the system are the same here.
#define TROUPE_CHANGE_ALL(name, T, expression)              \
  TROUPE_CHANGE(name, device_scope, T, expression)          \
  TROUPE_CHANGE(name##_system, device_scope, T, expression) \
  TROUPE_CHANGE(name##_block, block_scope, T, expression)
#define TROUPE_FETCH_ALL(name, T, builtin, expression) \
  TROUPE_FETCH(name, T, builtin)                       \
  TROUPE_FETCH(name##_system, T, builtin)              \
  TROUPE_CHANGE(name##_block, block_scope, T, expression)

#define TROUPE_INTEGER_ATOMICS(T)                                                                       \
  TROUPE_FETCH_ALL(atomicAdd, T, __atomic_fetch_add, old + value)                                       \
  TROUPE_FETCH_ALL(atomicAnd, T, __atomic_fetch_and, old& value)                                        \
  TROUPE_FETCH_ALL(atomicOr, T, __atomic_fetch_or, old | value)                                         \
  TROUPE_FETCH_ALL(atomicXor, T, __atomic_fetch_xor, old ^ value)                                       \
  TROUPE_CHANGE_ALL(atomicMin, T, value < old ? value : old)                                            \
  TROUPE_CHANGE_ALL(atomicMax, T, old < value ? value : old)                                            \
  TROUPE_CHANGE_ALL(atomicExch, T, ((void)old, value))                                                  \
  TROUPE_INLINE T atomicCAS(T* at, T compare, T value) {                                                \
    ::troupe_cuda::device_scope::replace(at, compare, value);                                           \
    return compare;                                                                                     \
  }                                                                                                     \
  TROUPE_INLINE T atomicCAS_system(T* at, T compare, T value) { return atomicCAS(at, compare, value); } \
  TROUPE_INLINE T atomicCAS_block(T* at, T compare, T value) {                                          \
    ::troupe_cuda::block_scope::replace(at, compare, value);                                            \
    return compare;                                                                                     \
  }
TROUPE_INTEGER_ATOMICS(int)
TROUPE_INTEGER_ATOMICS(unsigned)
TROUPE_INTEGER_ATOMICS(long)
TROUPE_INTEGER_ATOMICS(unsigned long)
TROUPE_INTEGER_ATOMICS(long long)
TROUPE_INTEGER_ATOMICS(unsigned long long)
TROUPE_CHANGE_ALL(atomicAdd, float, old + value)
TROUPE_CHANGE_ALL(atomicAdd, double, old + value)
TROUPE_CHANGE_ALL(atomicExch, float, ((void)old, value))
TROUPE_CHANGE_ALL(atomicExch, double, ((void)old, value))
TROUPE_FETCH_ALL(atomicSub, int, __atomic_fetch_sub, old - value)
TROUPE_FETCH_ALL(atomicSub, unsigned, __atomic_fetch_sub, old - value)
TROUPE_CHANGE_ALL(atomicInc, unsigned, old >= value ? 0u : old + 1)
TROUPE_CHANGE_ALL(atomicDec, unsigned, old == 0 || old > value ? value : old - 1)

TROUPE_INLINE unsigned short atomicCAS(unsigned short* at, unsigned short compare, unsigned short value) {
  ::troupe_cuda::device_scope::replace(at, compare, value);
  return compare;
}

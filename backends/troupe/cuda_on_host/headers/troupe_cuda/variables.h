// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// Variables that live across barriers: each is an array in the block's scratch memory, with an element for each thread.
#pragma once
#pragma GCC system_header

namespace troupe_cuda {

template <class T>
struct plain {
  using type = T;
};
template <class T>
struct plain<const T> : plain<T> {};
template <class T>
struct plain<volatile T> : plain<T> {};
template <class T>
struct plain<const volatile T> : plain<T> {};
template <class T>
struct plain<T&> : plain<T> {};
template <class T>
struct plain<T* __restrict__> {
  using type = T*;
};
template <class T, size_t N>
struct plain<const T[N]> {
  using type = T[N];
};

// The type of a thread's own copy of a parameter, without the parameter's qualifiers.
template <class T>
struct own {
  using type = T;
};
template <class T>
struct own<T* __restrict__> {
  using type = T*;
};
template <class T>
struct own<T* __restrict__ const> {
  using type = T* const;
};

// Holds for numbers, and for types without user-defined operators.
template <class T>
inline constexpr bool number = __is_enum(T) || code<T> != TROUPE_HOST_OTHER;
template <class T>
inline constexpr bool number<const T> = number<T>;
template <class T>
inline constexpr bool number<T*> = true;
template <class T>
inline constexpr bool number<T&> = false;
template <class T>
inline constexpr bool number<T&&> = false;

// Holds for types that may be moved to another address while a thread waits: numbers, and structs of data without
// constructors, copy functions or destructors.
template <class T>
inline constexpr bool data =
    number<T> || (__is_class(T) && __is_aggregate(T) && __is_trivially_copyable(T) && __is_trivially_constructible(T));
template <class T>
inline constexpr bool data<const T> = data<T>;
template <class T>
inline constexpr bool data<T&> = false;
template <class T>
inline constexpr bool data<T&&> = false;
template <>
inline constexpr bool data<dim3> = true;
template <>
inline constexpr bool data<void> = false;

// Holds for a member that is not an array, so that naming it does not yield a pointer into the struct.
template <class T>
inline constexpr bool member = data<T>;
template <class T, size_t N>
inline constexpr bool member<T[N]> = false;
template <class T>
inline constexpr bool pointer = false;
template <class T>
inline constexpr bool pointer<T*> = true;
template <class T>
inline constexpr bool pointer<T* __restrict__> = true;
template <class T>
inline constexpr bool pointer<const T> = pointer<T>;
template <class T>
T& some();

template <class T>
TROUPE_INLINE T* per_thread(frame& f) {
  static_assert(__is_trivially_copyable(T),
                "a variable that lives across a barrier has a type with its own copy constructor or destructor");
  const uint64_t bytes = (sizeof(T) * f.threads + 63) / 64 * 64;
  block& b = f.b;
  if (__builtin_expect(bytes > static_cast<uint64_t>(b.scratch_end - b.scratch), 0))
    b.services->more_scratch(&b, bytes);
  char* at = b.scratch;
  b.scratch += bytes;
  return reinterpret_cast<T*>(__builtin_assume_aligned(at, 64));
}

// Releases, at the end of a scope, the scratch memory that was allocated in it.
struct scratch_scope {
  block& b;
  char *at, *end;
  [[gnu::always_inline]] explicit scratch_scope(frame& f) : b(f.b), at(f.b.scratch), end(f.b.scratch_end) {}
  [[gnu::always_inline]] ~scratch_scope() {
    if (b.scratch_end == end) b.scratch = at;
  }
  scratch_scope(const scratch_scope&) = delete;
};

// A thread's array while the thread runs. A small array is copied, so that the copy can be in registers.
template <class T, bool Small = sizeof(T) <= 1024>
struct local_copy {
  T value;
  T& target;
  [[gnu::always_inline]] explicit local_copy(T& target_) : target(target_) {
    __builtin_memcpy(&value, &target_, sizeof(T));
  }
  [[gnu::always_inline]] void write_back() { __builtin_memcpy(&target, &value, sizeof(T)); }
};
template <class T>
struct local_copy<T, false> {
  T& value;
  [[gnu::always_inline]] explicit local_copy(T& target_) : value(target_) {}
  [[gnu::always_inline]] void write_back() {}
};
// Stores a value. It may have a qualifier that the target lacks, as in `float* __restrict__`, which clang removes only
// by a C-style cast.
template <class T, class U>
TROUPE_INLINE void store(T& target, const U& value) {
  static_assert(sizeof(T) == sizeof(U));
  __builtin_memcpy(static_cast<void*>(const_cast<typename plain<T>::type*>(&target)), (const void*)(&value), sizeof(T));
}

[[gnu::always_inline]] inline remaining_threads::remaining_threads(frame& f)
    : flags(per_thread<unsigned char>(f)), count(f.threads) {
  __builtin_memset(flags, 1, count);
}

// Returns the address of a thread-local variable, computed once per block, because it does not change while the block
// runs.
template <class T>
TROUPE_INLINE T& once(T& variable) {
  T* at = &variable;
  asm("" : "+r"(at));
  return *at;
}

// Returns the block's dynamic shared memory as an array of T.
template <class T>
TROUPE_INLINE T& dynamic_shared(block& b) {
  return *reinterpret_cast<T*>(__builtin_assume_aligned(b.shared, 128));
}

}  // namespace troupe_cuda

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// Variables that live across barriers: one array for each, with an element for each thread, in the block's scratch
// memory.
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

// The type of a thread's own copy of a parameter: without a promise that holds for the parameter alone.
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

// Numbers, and what has no operators of the user's either.
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

// What may be moved from one place to another while a thread waits: numbers, and structs of data that have no functions
// to be made, copied or ended by.
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

// A member that is no array, so that naming it gives no pointer to the whole.
template <class T>
inline constexpr bool member = data<T>;
template <class T, size_t N>
inline constexpr bool member<T[N]> = false;
template <class T>
T& some();

template <class T>
TROUPE_INLINE T* per_thread(frame& f) {
  static_assert(__is_trivially_copyable(T),
                "a variable that lives across a barrier has a type with a copy constructor or destructor of its own");
  const uint64_t bytes = (sizeof(T) * f.threads + 63) / 64 * 64;
  block& b = f.b;
  if (__builtin_expect(bytes > static_cast<uint64_t>(b.scratch_end - b.scratch), 0))
    b.services->more_scratch(&b, bytes);
  char* at = b.scratch;
  b.scratch += bytes;
  return reinterpret_cast<T*>(__builtin_assume_aligned(at, 64));
}

// Gives back, at the end of a scope, what was taken in it.
struct scratch_scope {
  block& b;
  char *at, *end;
  [[gnu::always_inline]] explicit scratch_scope(frame& f) : b(f.b), at(f.b.scratch), end(f.b.scratch_end) {}
  [[gnu::always_inline]] ~scratch_scope() {
    if (b.scratch_end == end) b.scratch = at;
  }
  scratch_scope(const scratch_scope&) = delete;
};

// An array of a thread while the thread runs: a copy where it is small, so that it can live in registers.
template <class T, bool Small = sizeof(T) <= 1024>
struct held {
  T value;
  T& home;
  [[gnu::always_inline]] explicit held(T& home_) : home(home_) { __builtin_memcpy(&value, &home_, sizeof(T)); }
  [[gnu::always_inline]] void put_back() { __builtin_memcpy(&home, &value, sizeof(T)); }
};
template <class T>
struct held<T, false> {
  T& value;
  [[gnu::always_inline]] explicit held(T& home_) : value(home_) {}
  [[gnu::always_inline]] void put_back() {}
};
// The value may have a qualifier that its home lacks: `float* __restrict__`, which clang casts away in C's way only.
template <class T, class U>
TROUPE_INLINE void keep(T& home, const U& value) {
  static_assert(sizeof(T) == sizeof(U));
  __builtin_memcpy(static_cast<void*>(const_cast<typename plain<T>::type*>(&home)),
                   (const void*)(&value), sizeof(T));
}

[[gnu::always_inline]] inline those_left::those_left(frame& f) : flags(per_thread<unsigned char>(f)), count(f.threads) {
  __builtin_memset(flags, 1, count);
}

// The address of a thread-local variable, worked out once in a block: it does not change while the block runs.
template <class T>
TROUPE_INLINE T& once(T& variable) {
  T* at = &variable;
  asm("" : "+r"(at));
  return *at;
}

// Dynamic shared memory.
template <class T>
TROUPE_INLINE T& dynamic_shared(block& b) {
  return *reinterpret_cast<T*>(__builtin_assume_aligned(b.shared, 128));
}

}  // namespace troupe_cuda

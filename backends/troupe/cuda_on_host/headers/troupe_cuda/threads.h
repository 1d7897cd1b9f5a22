// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs the threads of a block. The translated bodies of kernels call these functions.
#pragma once
#pragma GCC system_header

namespace troupe_cuda {

#define TROUPE_ASSUME(condition) \
  if (!(condition)) __builtin_unreachable()

// The data of its block that a kernel's body uses, as copies: a store through one of the kernel's pointers cannot
// change them, so they stay in registers.
struct frame {
  block& b;
  uint3 index;
  dim3 size, grid;
  unsigned threads;
  // True if blockIdx.x * blockDim.x + threadIdx.x stays below 2^31. Knowing this, the compiler can treat `int i = ...`
  // as consecutive; otherwise i may wrap between threads, and memory accesses become gathers and scatters.
  bool small;

  [[gnu::always_inline]] explicit frame(block& b_)
      : b(b_),
        index{b_.index.x, b_.index.y, b_.index.z},
        size(b_.block.x, b_.block.y, b_.block.z),
        grid(b_.grid.x, b_.grid.y, b_.grid.z),
        threads(b_.threads),
        small(static_cast<uint64_t>(b_.index.x) * b_.block.x <= 0x7fffffffu - 1024) {}
};

TROUPE_INLINE void assume_limits(const frame& f) {
  TROUPE_ASSUME(f.size.x - 1 < 1024);
  TROUPE_ASSUME(f.size.y - 1 < 1024);
  TROUPE_ASSUME(f.size.z - 1 < 64);
  TROUPE_ASSUME(f.threads - 1 < 1024);
  TROUPE_ASSUME(f.index.y < 65535);
  TROUPE_ASSUME(f.index.z < 65535);
  TROUPE_ASSUME(f.grid.x - 1 < 0x7fffffff);
}

// Calls body(frame) for a block. The call appears twice, once with `small` known to be true, so that the compiler can
// use that.
template <class Body>
TROUPE_INLINE void run_block(block& b, const Body& body) {
  frame f(b);
  assume_limits(f);
  if (__builtin_expect(f.small, 1)) {
    TROUPE_ASSUME(f.index.x * f.size.x <= 0x7fffffffu - 1024);
    f.small = true;
    body(f);
  } else {
    asm("" : "+r"(f.index.x));
    f.small = false;
    body(f);
  }
}

#if defined(__clang__)
#define TROUPE_THREADS_ARE_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define TROUPE_THREADS_ARE_INDEPENDENT _Pragma("GCC ivdep")
#endif

// Calls body(threadIdx, linear index) for each thread. The compiler vectorizes the loop if the iterations do not depend
// on each other. It must prove that by itself, unless `Independent`: then the translator knows that a thread uses only
// memory that all threads share. `Independent` would be wrong if threads hold a local array, or change a sum of their
// block by a plain addition.
template <bool Independent, class Body>
TROUPE_INLINE void run_in_lanes(const frame& f, const Body& body) {
  const unsigned width = f.size.x;
  for (unsigned z = 0; z < f.size.z; ++z)
    for (unsigned y = 0; y < f.size.y; ++y) {
      const unsigned first = (z * f.size.y + y) * width;
      asm volatile("");  // keeps g++ from vectorizing this loop instead of the one below
      if constexpr (Independent) {
        TROUPE_THREADS_ARE_INDEPENDENT
        for (unsigned x = 0; x < width; ++x) body(uint3{x, y, z}, first + x);
      } else {
        for (unsigned x = 0; x < width; ++x) body(uint3{x, y, z}, first + x);
      }
    }
}
// Does the same without vector code, for rare cases. The empty statement keeps the compiler from spending time on
// vectorizing it.
template <class Body>
TROUPE_INLINE void one_by_one(const frame& f, const Body& body) {
  unsigned thread = 0;
  for (unsigned z = 0; z < f.size.z; ++z)
    for (unsigned y = 0; y < f.size.y; ++y)
      for (unsigned x = 0; x < f.size.x; ++x) {
        asm volatile("");
        body(uint3{x, y, z}, thread++);
      }
}

// The threads of a kernel in which no thread returns before a barrier: all of them.
struct all_threads {
  static constexpr bool alive(unsigned) { return true; }
  static constexpr bool all(const frame&) { return true; }
  static constexpr bool none() { return false; }
};

// The threads that have not returned, in a kernel in which threads may return before a barrier.
struct remaining_threads {
  unsigned char* flags;
  unsigned count;

  [[gnu::always_inline]] explicit remaining_threads(frame& f);
  bool alive(unsigned thread) const { return flags[thread]; }
  bool all(const frame& f) const { return count == f.threads; }
  bool none() const { return count == 0; }
};

// Sets threadIdx for functions before each thread runs, if functions read it.
template <bool StoresIndex>
TROUPE_INLINE void store_index(uint3 index) {
  if constexpr (StoresIndex) threadIdx = index;
}

// Runs the code between two barriers.
template <bool StoresIndex, bool Independent, class Left, class Body>
TROUPE_INLINE void each_thread(const frame& f, const Left& left, const Body& body) {
  if (__builtin_expect(f.small && left.all(f), 1))
    run_in_lanes<Independent>(f, [&](uint3 index, unsigned thread) __attribute__((always_inline)) {
      store_index<StoresIndex>(index);
      body(index, thread);
    });
  else
    one_by_one(f, [&](uint3 index, unsigned thread) __attribute__((always_inline)) {
      if (!left.alive(thread)) return;
      store_index<StoresIndex>(index);
      body(index, thread);
    });
}

// Runs code that only threads for which guard(threadIdx, linear index) holds need. `body` tests the guard itself,
// unless its last argument is true: then it holds for all threads.
template <bool StoresIndex, bool Independent, class Left, class Guard, class Body>
TROUPE_INLINE void each_thread_inside(const frame& f, const Left& left, const Guard& guard, const Body& body) {
  if (__builtin_expect(f.small && left.all(f), 1)) {
    unsigned inside = 0;
    run_in_lanes<Independent>(f, [&](uint3 index, unsigned thread)
                                     __attribute__((always_inline)) { inside += guard(index, thread) ? 1u : 0u; });
    if (__builtin_expect(inside == f.threads, 1))
      each_thread<StoresIndex, Independent>(
          f, left, [&](uint3 index, unsigned thread) __attribute__((always_inline)) { body(index, thread, true); });
    else if (inside != 0)
      each_thread<StoresIndex, Independent>(
          f, left, [&](uint3 index, unsigned thread) __attribute__((always_inline)) { body(index, thread, false); });
  } else {
    each_thread<StoresIndex, Independent>(
        f, left, [&](uint3 index, unsigned thread) __attribute__((always_inline)) { body(index, thread, false); });
  }
}

// Runs code in which threads may return: `body` returns true if its thread continues.
template <bool StoresIndex, bool Independent, class Body>
TROUPE_INLINE void each_thread_or_leaves(const frame& f, remaining_threads& left, const Body& body) {
  if (__builtin_expect(f.small && left.all(f), 1))
    run_in_lanes<Independent>(f, [&](uint3 index, unsigned thread) __attribute__((always_inline)) {
      store_index<StoresIndex>(index);
      left.flags[thread] = body(index, thread);
    });
  else
    one_by_one(f, [&](uint3 index, unsigned thread) __attribute__((always_inline)) {
      if (!left.alive(thread)) return;
      store_index<StoresIndex>(index);
      left.flags[thread] = body(index, thread);
    });
  unsigned count = 0;
  for (unsigned t = 0; t < f.threads; ++t) count += left.flags[t];
  left.count = count;
}

// The result of a condition around a barrier, which all threads evaluate.
enum class answer { no, yes, none_left, divided };

template <bool StoresIndex, bool Independent, class Left, class Body>
TROUPE_INLINE answer ask_each_thread(const frame& f, const Left& left, const Body& body) {
  unsigned yes = 0, count = f.threads;
  if (__builtin_expect(f.small && left.all(f), 1)) {
    run_in_lanes<Independent>(f, [&](uint3 index, unsigned thread) __attribute__((always_inline)) {
      store_index<StoresIndex>(index);
      yes += body(index, thread) ? 1u : 0u;
    });
  } else {
    count = 0;
    one_by_one(f, [&](uint3 index, unsigned thread) __attribute__((always_inline)) {
      if (!left.alive(thread)) return;
      ++count;
      store_index<StoresIndex>(index);
      yes += body(index, thread) ? 1u : 0u;
    });
    if (count == 0) return answer::none_left;
  }
  return yes == 0 ? answer::no : yes == count ? answer::yes : answer::divided;
}

[[gnu::cold, gnu::noinline]] inline void divided(block& b, TROUPE_PLACE) {
  b.fault = {file, line, 0, UINT32_MAX, "its condition holds for some threads and not for others"};
  b.services->leave(&b, TROUPE_HOST_DIVERGED);
}

// Runs threads as fibers, and passes threadIdx to `body`.
template <class Body>
TROUPE_INLINE void as_fibers(frame& f, const Body& body) {
  struct context {
    const Body& body;
    const frame& f;
  } c{body, f};
  const uint32_t status = f.b.services->run_threads(
      &f.b,
      [](void* at, uint32_t thread) {
        const context& c = *static_cast<context*>(at);
        const dim3 size = c.f.size;
        uint3 index{thread, 0, 0};
        if (size.y * size.z != 1) index = {thread % size.x, thread / size.x % size.y, thread / size.x / size.y};
        store_index<index_in_functions>(index);
        c.body(index, thread);
      },
      &c);
  if (status != TROUPE_HOST_OK) f.b.services->leave(&f.b, status);
}

// Called when a thread reaches the end of the kernel, which differs from a return while others wait at a barrier.
TROUPE_INLINE void end_of_kernel(block& b, unsigned line = __builtin_LINE()) { b.services->reached_end(&b, line); }

}  // namespace troupe_cuda

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// Warp operations, for threads that run as fibers. Each lane stores its value; the last lane to arrive computes the
// results of all lanes.
#pragma once
#pragma GCC system_header

namespace troupe_cuda {

using warp = troupe_host_warp;

// Sets a lane's result if the lane is in the mask: other lanes may not have fetched their previous results yet.
TROUPE_INLINE void set_result(warp* w, uint32_t mask, uint32_t lane, uint64_t value) {
  w->out[lane] = mask >> lane & 1 ? value : w->out[lane];
}

inline void set_ballots(warp* w, uint32_t mask) {
  uint32_t votes = 0;
  for (uint32_t lane = 0; lane < 32; ++lane) votes |= (w->in[lane] != 0 ? 1u : 0u) << lane;
  votes &= mask;
  for (uint32_t lane = 0; lane < 32; ++lane) set_result(w, mask, lane, votes | uint64_t{mask} << 32);
}
inline void set_matches(warp* w, uint32_t mask) {
  for (uint32_t lane = 0; lane < 32; ++lane) {
    uint32_t equal = 0;
    for (uint32_t other = 0; other < 32; ++other) equal |= (w->in[lane] == w->in[other] ? 1u : 0u) << other;
    set_result(w, mask, lane, equal & mask);
  }
}
template <class T, class F>
inline void set_fold(warp* w, uint32_t mask) {
  bool first = true;
  T all{};
  for (uint32_t lane = 0; lane < 32; ++lane)
    if (mask >> lane & 1) {
      const T one = static_cast<T>(w->in[lane]);
      all = first ? one : F()(all, one);
      first = false;
    }
  for (uint32_t lane = 0; lane < 32; ++lane) set_result(w, mask, lane, static_cast<uint64_t>(all));
}

TROUPE_INLINE uint64_t meet(unsigned mask, void (*complete)(warp*, uint32_t), uint64_t value, unsigned argument,
                            const char* file, unsigned line) {
  const index_guard guard;
  block& b = *current;
  // Threads that run in loops have no warps: for them, meet() fails.
  warp* w = b.fibers ? b.warps + b.thread / 32 : nullptr;
  const unsigned lane = b.thread % 32;
  if (w) {
    w->in[lane] = value;
    w->argument[lane] = argument;
  }
  b.services->meet(&b, mask, complete, file, line);
  return w->out[lane];
}

// Returns the value of lane `from`. The launcher decides what is returned for a lane that takes no part in the shuffle.
TROUPE_INLINE uint64_t read_lane(unsigned mask, uint64_t value, unsigned from, const char* file, unsigned line) {
  const index_guard guard;
  block& b = *current;
  warp* w = b.fibers ? b.warps + b.thread / 32 : nullptr;
  const unsigned lane = b.thread % 32;
  if (w) {
    w->in[lane] = value;
    w->argument[lane] = from;
  }
  b.services->shuffle(&b, mask, file, line);
  return w->out[lane];
}

TROUPE_INLINE unsigned lane_id() { return current->thread % 32; }

template <class T>
TROUPE_INLINE uint64_t to_word(const T& value) {
  static_assert(sizeof(T) <= 8, "warps exchange values of at most 8 bytes");
  uint64_t word = 0;
  __builtin_memcpy(&word, &value, sizeof(T));
  return word;
}
template <class T>
TROUPE_INLINE T from_word(uint64_t word) {
  T value;
  __builtin_memcpy(static_cast<void*>(&value), &word, sizeof(T));
  return value;
}

template <class T>
TROUPE_INLINE T shuffle(unsigned mask, T value, unsigned from, const char* file, unsigned line) {
  return from_word<T>(read_lane(mask, to_word(value), from, file, line));
}

#define TROUPE_OPERATION(name, expression) \
  struct name {                            \
    template <class T>                     \
    T operator()(T a, T b) const {         \
      return expression;                   \
    }                                      \
  };
TROUPE_OPERATION(add, a + b)
TROUPE_OPERATION(smaller, b < a ? b : a)
TROUPE_OPERATION(larger, a < b ? b : a)
TROUPE_OPERATION(bit_and, a& b)
TROUPE_OPERATION(bit_or, a | b)
TROUPE_OPERATION(bit_xor, a ^ b)
#undef TROUPE_OPERATION

template <class T, class F>
TROUPE_INLINE T fold(unsigned mask, T value, const char* file, unsigned line) {
  return static_cast<T>(meet(mask, set_fold<T, F>, static_cast<uint64_t>(value), 0, file, line));
}

// Exchanges small integers as int, as CUDA's functions do.
template <class T>
struct shuffled {
  using type = T;
};
template <>
struct shuffled<bool> : shuffled<int> {};
template <>
struct shuffled<char> : shuffled<int> {};
template <>
struct shuffled<signed char> : shuffled<int> {};
template <>
struct shuffled<unsigned char> : shuffled<int> {};
template <>
struct shuffled<short> : shuffled<int> {};
template <>
struct shuffled<unsigned short> : shuffled<int> {};

}  // namespace troupe_cuda

template <class T, class S = typename ::troupe_cuda::shuffled<T>::type>
TROUPE_INLINE S __shfl_sync(unsigned mask, T value, int from, int width = 32, TROUPE_PLACE) {
  const unsigned lane = ::troupe_cuda::lane_id(), segment = lane & ~(static_cast<unsigned>(width) - 1);
  return ::troupe_cuda::shuffle<S>(mask, static_cast<S>(value),
                                   segment | (static_cast<unsigned>(from) & (static_cast<unsigned>(width) - 1)), file,
                                   line);
}
template <class T, class S = typename ::troupe_cuda::shuffled<T>::type>
TROUPE_INLINE S __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, TROUPE_PLACE) {
  const unsigned lane = ::troupe_cuda::lane_id(), segment = lane & ~(static_cast<unsigned>(width) - 1);
  return ::troupe_cuda::shuffle<S>(mask, static_cast<S>(value), lane - segment >= delta ? lane - delta : lane, file,
                                   line);
}
template <class T, class S = typename ::troupe_cuda::shuffled<T>::type>
TROUPE_INLINE S __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, TROUPE_PLACE) {
  const unsigned lane = ::troupe_cuda::lane_id(), in_segment = lane & (static_cast<unsigned>(width) - 1);
  return ::troupe_cuda::shuffle<S>(mask, static_cast<S>(value),
                                   delta < static_cast<unsigned>(width) - in_segment ? lane + delta : lane, file, line);
}
template <class T, class S = typename ::troupe_cuda::shuffled<T>::type>
TROUPE_INLINE S __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32, TROUPE_PLACE) {
  // A lane of a later segment counts as out of range; a lane of an earlier segment does not.
  const unsigned lane = ::troupe_cuda::lane_id(), from = lane ^ static_cast<unsigned>(lanes);
  const bool reachable =
      from < 32 && from < (lane & ~(static_cast<unsigned>(width) - 1)) + static_cast<unsigned>(width);
  return ::troupe_cuda::shuffle<S>(mask, static_cast<S>(value), reachable ? from : lane, file, line);
}

TROUPE_INLINE void __syncwarp(unsigned mask = 0xffffffffu, TROUPE_PLACE) {
  const ::troupe_cuda::index_guard guard;
  ::troupe_cuda::current->services->meet(::troupe_cuda::current, mask, nullptr, file, line);
}
TROUPE_INLINE unsigned __ballot_sync(unsigned mask, int predicate, TROUPE_PLACE) {
  return static_cast<unsigned>(::troupe_cuda::meet(mask, ::troupe_cuda::set_ballots, predicate != 0, 0, file, line));
}
TROUPE_INLINE int __any_sync(unsigned mask, int predicate, TROUPE_PLACE) {
  return __ballot_sync(mask, predicate, file, line) != 0;
}
TROUPE_INLINE int __all_sync(unsigned mask, int predicate, TROUPE_PLACE) {
  const uint64_t votes = ::troupe_cuda::meet(mask, ::troupe_cuda::set_ballots, predicate != 0, 0, file, line);
  return static_cast<uint32_t>(votes) == static_cast<uint32_t>(votes >> 32);  // among the lanes that took part
}
TROUPE_INLINE unsigned __activemask(TROUPE_PLACE) {
  const ::troupe_cuda::index_guard guard;
  return ::troupe_cuda::current->services->converged(::troupe_cuda::current, file, line);
}
template <class T>
TROUPE_INLINE unsigned __match_any_sync(unsigned mask, T value, TROUPE_PLACE) {
  return static_cast<unsigned>(
      ::troupe_cuda::meet(mask, ::troupe_cuda::set_matches, ::troupe_cuda::to_word(value), 0, file, line));
}
template <class T>
TROUPE_INLINE unsigned __match_all_sync(unsigned mask, T value, int* predicate, TROUPE_PLACE) {
  const auto equal = static_cast<unsigned>(
      ::troupe_cuda::meet(mask, ::troupe_cuda::set_matches, ::troupe_cuda::to_word(value), 0, file, line));
  const unsigned all = __ballot_sync(mask, 1, file, line);
  *predicate = equal == all;
  return *predicate ? all : 0;
}

#define TROUPE_FOLD(name, type, operation)                                               \
  TROUPE_INLINE type name(unsigned mask, type value, TROUPE_PLACE) {                     \
    return ::troupe_cuda::fold<type, ::troupe_cuda::operation>(mask, value, file, line); \
  }
TROUPE_FOLD(__reduce_add_sync, unsigned, add)
TROUPE_FOLD(__reduce_min_sync, unsigned, smaller)
TROUPE_FOLD(__reduce_max_sync, unsigned, larger)
TROUPE_FOLD(__reduce_and_sync, unsigned, bit_and)
TROUPE_FOLD(__reduce_or_sync, unsigned, bit_or)
TROUPE_FOLD(__reduce_xor_sync, unsigned, bit_xor)
TROUPE_FOLD(__reduce_min_sync, int, smaller)
TROUPE_FOLD(__reduce_max_sync, int, larger)
#undef TROUPE_FOLD
TROUPE_INLINE int __reduce_add_sync(unsigned mask, int value, TROUPE_PLACE) {
  return static_cast<int>(__reduce_add_sync(mask, static_cast<unsigned>(value), file, line));
}

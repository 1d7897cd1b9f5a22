// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// Barriers of a block, for threads that run as fibers. For threads that run in loops, the translator has removed them.
#pragma once
#pragma GCC system_header

namespace troupe_cuda {

// Restores this thread's threadIdx, because other threads change it while they run.
struct index_guard {
  [[gnu::always_inline]] index_guard() {
    if constexpr (index_in_functions) index = threadIdx;
  }
  [[gnu::always_inline]] ~index_guard() {
    if constexpr (index_in_functions) threadIdx = index;
  }
  uint3 index;
};

TROUPE_INLINE uint64_t barrier(uint32_t predicate, const char* file, unsigned line) {
  const index_guard guard;
  return current->services->barrier(current, predicate, file, line);
}

// The threads of a warp continue together from here; the place with the lowest number continues first.
TROUPE_INLINE void in_step(unsigned place) {
  const index_guard guard;
  current->services->in_step(current, place);
}

}  // namespace troupe_cuda

#define TROUPE_PLACE const char *file = __builtin_FILE(), unsigned line = __builtin_LINE()

TROUPE_INLINE void __syncthreads(TROUPE_PLACE) { ::troupe_cuda::barrier(0, file, line); }
TROUPE_INLINE int __syncthreads_count(int predicate, TROUPE_PLACE) {
  return static_cast<int>(::troupe_cuda::barrier(predicate != 0, file, line) & 0xffffffffu);
}
TROUPE_INLINE int __syncthreads_and(int predicate, TROUPE_PLACE) {
  return static_cast<int>(::troupe_cuda::barrier(predicate != 0, file, line) >> 32 & 1);
}
TROUPE_INLINE int __syncthreads_or(int predicate, TROUPE_PLACE) {
  return static_cast<int>(::troupe_cuda::barrier(predicate != 0, file, line) >> 33 & 1);
}

TROUPE_INLINE void __threadfence_block() { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
TROUPE_INLINE void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
TROUPE_INLINE void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

// Launches run one after the other, so the previous one has ended.
TROUPE_INLINE void cudaGridDependencySynchronize() {}
TROUPE_INLINE void cudaTriggerProgrammaticLaunchCompletion() {}

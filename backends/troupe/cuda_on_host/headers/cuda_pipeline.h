// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// Copies from global to shared memory that a GPU makes in the background. Here they are made at once, which is allowed,
// so there is nothing to wait for.
#ifndef _CUDA_PIPELINE_H_
#define _CUDA_PIPELINE_H_
#pragma GCC system_header

TROUPE_INLINE void __pipeline_memcpy_async(void* __restrict__ shared, const void* __restrict__ global, size_t bytes,
                                           size_t zeros = 0) {
  __builtin_memcpy(shared, global, bytes - zeros);
  __builtin_memset(static_cast<char*>(shared) + (bytes - zeros), 0, zeros);
}
TROUPE_INLINE void __pipeline_commit() {}
TROUPE_INLINE void __pipeline_wait_prior(size_t) {}

#endif

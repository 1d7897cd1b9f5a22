// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/async/pending.hpp>
#include <troupe/device/alloc_options.hpp>
#include <troupe/device/options.hpp>
#include <troupe/memory/buffer.hpp>
#include <troupe/memory/managed.hpp>

namespace troupe {

class device;

namespace detail {
memory_range alloc_managed(const device& gpu, extent count, std::size_t element_bytes, const alloc_options& o);
pending<void> prefetch(const device& gpu, const memory_range& r, managed_place to, const call_options& o);
pending<void> advise(const device& gpu, const memory_range& r, managed_advice what, managed_place where,
                     const call_options& o);
pending<managed_range> managed(const device& gpu, const memory_range& r, const call_options& o);
}  // namespace detail

/// Allocates memory that migrates between the host and a GPU as it is used, and that may be larger than the GPU's. Only
/// the serving worker has it: when that worker is replaced, the buffer is lost, and requests that use it are refused
/// with that reason. Waits until a worker is ready. Refuses `sealable`. See docs/managed-memory.md.   cuMemAllocManaged
template <class T>
buffer<T> alloc_managed(const device& gpu, extent count, const alloc_options& o = {}) {
  return buffer<T>(detail::alloc_managed(gpu, count, sizeof(T), o));
}

/// Moves managed memory to the place where it will be used next, in the order of the requests. Changes the speed only,
/// never results.   cuMemPrefetchAsync / madvise
template <class T>
pending<void> prefetch(const device& gpu, const buffer<T>& b, managed_place to, const call_options& o = {}) {
  return detail::prefetch(gpu, b.memory(), to, o);
}

/// Informs the driver how managed memory will be used. `where` is the place that `preferred_location`, `accessed_by`
/// and their opposites refer to.   cuMemAdvise
template <class T>
pending<void> advise(const device& gpu, const buffer<T>& b, managed_advice what,
                     managed_place where = managed_place::device, const call_options& o = {}) {
  return detail::advise(gpu, b.memory(), what, where, o);
}

/// Returns the advice in force for the whole range, and the place to which it was last prefetched.
/// cuMemRangeGetAttributes
template <class T>
pending<managed_range> managed(const device& gpu, const buffer<T>& b, const call_options& o = {}) {
  return detail::managed(gpu, b.memory(), o);
}

}  // namespace troupe

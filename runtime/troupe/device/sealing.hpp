// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/async/pending.hpp>
#include <troupe/memory/buffer.hpp>

namespace troupe {

class device;

namespace detail {
pending<void> seal(const device& gpu, const memory_range& r);
pending<void> unseal(const device& gpu, const memory_range& r);
}  // namespace detail

/// Makes the memory of a buffer read-only in every worker, present and future: no fault and no kernel, however broken,
/// can change it, and it stays valid. The buffer must be whole, not a slice, and allocated with `sealable`. From this
/// call on, the device refuses requests that would write the buffer. Requests sent before run first; if one of them
/// fails, or the worker fails before the answer, this fails too, and the buffer is not sealed.   mprotect,
/// cuMemSetAccess
template <class T>
[[nodiscard]] pending<void> seal(const device& gpu, const buffer<T>& b) {
  return detail::seal(gpu, b.memory());
}

/// Ends a seal. From this call on, requests may write the buffer again.
template <class T>
[[nodiscard]] pending<void> unseal(const device& gpu, const buffer<T>& b) {
  return detail::unseal(gpu, b.memory());
}

}  // namespace troupe

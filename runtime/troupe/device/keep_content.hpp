// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/result.hpp>
#include <troupe/memory/host_buffer.hpp>

namespace troupe {

class device;

namespace detail {
result<void> keep_content(const device& gpu, const memory_range& r);
result<void> written(const device& gpu, const memory_range& r);
}  // namespace detail

/// Makes a buffer valid again that is stale only because a request that should have written it was refused when it was
/// sent: nothing ran, and the bytes are unchanged. Fails if the buffer is stale for any other reason.
template <class T>
result<void> keep_content(const device& gpu, const buffer<T>& b) {
  return detail::keep_content(gpu, b.memory());
}

/// States that the program itself has written all of this memory after the last request that uses it was answered. The
/// memory is then valid for requests sent from now on, until the next failure, whatever made it stale. Fails if a
/// request that uses it is still pending, because that one would access the memory at the same time.
///   std::ranges::copy(values, host.begin());
///   auto valid = written(gpu, host);
template <class T>
result<void> written(const device& gpu, const host_buffer<T>& b) {
  return detail::written(gpu, b.memory());
}

}  // namespace troupe

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/result.hpp>
#include <troupe/memory/buffer.hpp>

namespace troupe {

class device;

namespace detail {
result<void> keep_content(const device& gpu, const memory_range& r);
}

/// Makes a buffer valid again that is stale only because a request that would have written it was refused when it was
/// sent: nothing ran, and the bytes are as they were. Fails if the buffer is stale for any other reason.
template <class T>
result<void> keep_content(const device& gpu, const buffer<T>& b) {
  return detail::keep_content(gpu, b.memory());
}

}  // namespace troupe

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>
#include <troupe/channel/keep_from_children.hpp>

namespace troupe {

void keep_from_children(std::byte* data, std::size_t bytes) noexcept { (void)::madvise(data, bytes, MADV_DONTFORK); }

}  // namespace troupe

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/memory/quota.hpp>

namespace troupe {

/// Options of an allocation.
struct alloc_options {
  std::uint64_t alignment = 256;  ///< in bytes; a power of two; at most 2 MiB for `sealable` memory of a GPU
  bool zeroed = false;            ///< true: the memory is filled with zeros; otherwise its content is undefined
  memory_quota quota = {};        ///< the quota that the memory counts against; empty: none
  bool sealable = false;  ///< true: takes whole pages, so that `seal` can protect them; for `device::alloc` only
};

}  // namespace troupe

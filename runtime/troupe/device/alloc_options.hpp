// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/memory/quota.hpp>

namespace troupe {

/// Options of an allocation.
struct alloc_options {
  std::uint64_t alignment = 256;  ///< bytes; a power of two; at most 2 MiB for `sealable` memory of a GPU
  bool zeroed = false;            ///< fills the memory with zeros; otherwise its content is undefined
  memory_quota quota = {};        ///< the quota that the memory counts against, if any
  bool sealable = false;          ///< takes whole pages, so that `seal` can protect them; for `device::alloc` only
};

}  // namespace troupe

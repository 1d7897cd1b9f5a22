// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/device/alloc_options.hpp>
#include <troupe/device/core/core.hpp>

namespace troupe {
class device;
}

namespace troupe::detail {

/// Allocates memory of `kind`. If the allocation fails, every request that uses the range is refused with the reason.
memory_range allocate(device_core& core, memory_kind kind, extent count, std::size_t element_bytes,
                      const alloc_options& o);

/// Allocates memory for the bytes of a small upload. Only that request reads it.
memory_range allocate_for_upload(device_core& core, std::uint64_t bytes);

/// Fills the range with zeros, by a request in order with others. If that request is refused, the range is stale with
/// the reason.
void zero(const device& gpu, const memory_range& r);

/// Returns an error text about a count that is less than `least`.
std::string too_few(extent count, std::size_t element_bytes, int least);

}  // namespace troupe::detail

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/async/pending.hpp>
#include <troupe/base/list.hpp>
#include <troupe/device/options.hpp>
#include <troupe/device/peer_info.hpp>
#include <troupe/memory/buffer.hpp>
#include <vector>

namespace troupe {

class device;

namespace detail {
pending<void> copy_between(const device& to_device, const memory_range& to, const device& from_device,
                           const memory_range& from, const call_options& o);
}

/// Copies all of `from`, a buffer of `from_device`, to the first elements of `to`, a buffer of `to_device`, in the
/// order of both devices: the copy reads what was written to `from` before this call, and no later request of
/// `from_device` overwrites `from` first. If either device fails, so does the copy, and `to` becomes stale with that
/// cause. Takes no `retries`. See docs/peers.md.
template <class T>
pending<void> copy_between(const device& to_device, const buffer<T>& to, const device& from_device,
                           const buffer<T>& from, const call_options& o = {}) {
  return detail::copy_between(to_device, to.memory(), from_device, from.memory(), o);
}

/// Returns how `gpu` sees `other`. On GPUs this is known once a worker of each has become ready: await `started()`
/// first.
result<peer_info> peer(const device& gpu, const device& other);

/// Maps the memory that `other` owns now into the workers of `gpu`, present and future, so that no copy has to do it
/// first. Fails with `unsupported` if the hardware gives no access; copies need none.
result<void> enable_peer(const device& gpu, const device& other);

/// Returns the devices in groups within which each device has access to all others. Each device is in one group, and
/// the order is kept. Does not wait: on a GPU a worker must have been ready (`started()`).
result<std::vector<std::vector<device>>> islands(const list<device>& devices);

}  // namespace troupe

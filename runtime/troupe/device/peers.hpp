// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/async/pending.hpp>
#include <troupe/base/containers/list.hpp>
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
/// `from_device` overwrites `from` before it has been copied. If either device fails, the copy fails too, and `to`
/// becomes stale with the cause. Does not support `retries`. See docs/peers.md.
template <class T>
pending<void> copy_between(const device& to_device, const buffer<T>& to, const device& from_device,
                           const buffer<T>& from, const call_options& o = {}) {
  return detail::copy_between(to_device, to.memory(), from_device, from.memory(), o);
}

/// Returns the connection from `gpu` to `other`. On GPUs it is known once a worker of each has become ready: await
/// `started()` first.
result<peer_info> peer(const device& gpu, const device& other);

/// Maps the memory that `other` owns now into the workers of `gpu`, present and future, so that no copy has to map it
/// first. Optional. Fails with `unsupported` if the hardware allows no access.
result<void> enable_peer(const device& gpu, const device& other);

/// Groups the devices so that each device of a group has access to all others in it. Each device is in one group, and
/// the order is kept. Does not wait: on a GPU a worker must have been ready (`started()`).
result<std::vector<std::vector<device>>> islands(const list<device>& devices);

}  // namespace troupe

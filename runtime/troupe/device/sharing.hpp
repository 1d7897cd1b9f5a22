// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/async/pending.hpp>
#include <troupe/device/shared_memory.hpp>
#include <troupe/memory/buffer.hpp>
#include <troupe/memory/host_buffer.hpp>

/// Shares a device's memory with other programs, or with other code of this program. See docs/interop.md.
namespace troupe {

class device;

namespace detail {
result<shared_memory> export_memory(const device& gpu, const memory_range& r);
memory_range import_memory(const device& gpu, shared_memory from, std::size_t element_bytes, std::size_t alignment);
memory_range adopt_memory(const device& gpu, std::byte* data, extent bytes, std::size_t alignment,
                          std::shared_ptr<const void> keep);
pending<void> lend(const device& gpu, const memory_range& r);
pending<void> take_back(const device& gpu, const memory_range& r);
result<addressed_memory> address(const device& gpu, const memory_range& r);
}  // namespace detail

/// Returns a descriptor with which other programs can open the memory of `b`. `lend` the buffer until they have
/// finished, and keep a handle: the memory is reused when the last handle is destroyed. A sealed buffer cannot be
/// exported, because others could write it, and an exported one cannot be sealed.
template <class T>
result<shared_memory> export_memory(const device& gpu, const buffer<T>& b) {
  return detail::export_memory(gpu, b.memory());
}
template <class T>
result<shared_memory> export_memory(const device& gpu, const host_buffer<T>& b) {
  return detail::export_memory(gpu, b.memory());
}

/// Returns a buffer in memory that another program has made. It has the same address in all workers, present and
/// future. Its content counts as written. If the memory cannot be opened, the buffer is stale from the start with the
/// reason.
template <class T>
buffer<T> import_memory(const device& gpu, shared_memory from) {
  return buffer<T>(detail::import_memory(gpu, std::move(from), sizeof(T), alignof(T)));
}

/// Returns a buffer in memory without a descriptor, which only a worker in a thread can access: see isolation::thread.
/// `keep` is released with the last handle and the last request.
template <class T>
buffer<T> adopt_memory(const device& gpu, T* data, extent count, std::shared_ptr<const void> keep) {
  return buffer<T>(
      detail::adopt_memory(gpu, reinterpret_cast<std::byte*>(data), count * sizeof(T), alignof(T), std::move(keep)));
}

/// Completes when all earlier requests that use the buffer have completed: others may use it then, until `take_back`.
/// Send no requests that use it meanwhile.
template <class T>
[[nodiscard]] pending<void> lend(const device& gpu, const buffer<T>& b) {
  return detail::lend(gpu, b.memory());
}
/// Ends a `lend`. All of the buffer counts as written.
template <class T>
[[nodiscard]] pending<void> take_back(const device& gpu, const buffer<T>& b) {
  return detail::take_back(gpu, b.memory());
}

/// Returns the address of the buffer in this process, without lending it: always on the host engine, on a GPU only with
/// isolation::thread.
template <class T>
result<addressed_memory> address(const device& gpu, const buffer<T>& b) {
  return detail::address(gpu, b.memory());
}

}  // namespace troupe

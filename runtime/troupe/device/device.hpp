// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ranges>
#include <span>
#include <troupe/async/accepted.hpp>
#include <troupe/base/complex.hpp>
#include <troupe/device/request_info.hpp>
#include <troupe/device/scope.hpp>
#include <troupe/device/statistics.hpp>
#include <troupe/device/transfers/untyped.hpp>
#include <troupe/device/watch.hpp>
#include <troupe/memory/buffer.hpp>
#include <troupe/memory/host_buffer.hpp>
#include <troupe/request/checker.hpp>

namespace troupe {

/// An accelerator behind an actor. This is a handle: cheap to copy, and valid forever, through every restart and after
/// the device has stopped. When the last handle is destroyed, the device closes as with `close`: requests that were
/// sent before are served. Programs, graphs and pendings hold a handle; buffers, watches and `stopped()` do not.
///
/// A device executes requests *as if one at a time*, in the order of the calls; they overlap only if no caller can
/// tell. So a program can queue a whole computation and check once, at the end: an error anywhere on the way arrives
/// there. Functions that return the only report of an error are [[nodiscard]]. All functions are thread-safe, and none
/// throws.
///
/// Further functions of a device are in headers of their own: `peers.hpp` (several devices), `sealing.hpp`,
/// `sharing.hpp`, `managed.hpp`, `matrix_copy.hpp`, `keep_content.hpp`.
class device {
 public:
  explicit device(std::shared_ptr<device_core> core) noexcept;
  device(const device&) noexcept = default;  // also for moves: a handle is never empty
  device& operator=(const device&) noexcept = default;

  // --- requests ---
  /// Queues a request. If the request is refused or fails, its outputs become stale with the reason.
  template <request R>
  accepted tell(const R& r, const call_options& options = {}) const {
    checker c(r, owner(), generation());
    r.check(c);
    return submit(detail::info_of<R>, &r, c, nullptr, nullptr, options);
  }
  /// Queues a request and returns a pending of its answer.
  template <request R>
  pending<reply_to<R>> ask(const R& r, const call_options& options = {}) const {
    checker c(r, owner(), generation());
    r.check(c);
    using state = detail::asked<reply_to<R>>;
    auto answer = ref<state>::adopt(new state(core_));
    submit(detail::info_of<R>, &r, c, answer.get(), &answer->link, options);
    return pending<reply_to<R>>(std::move(answer));
  }
  /// Queues a ready request: a request that is sent as a more general one.
  template <ready_request R>
  accepted tell(const R& r, const call_options& options = {}) const {
    const auto sent = r.to_request();
    const detail::ready_and_sent<R> both{r, sent};
    checker c(both, owner(), generation());
    both.checked().check(c);
    return submit(detail::info_for(r), &sent, c, nullptr, nullptr, options);
  }
  template <ready_request R>
  pending<reply_to<sent_as<R>>> ask(const R& r, const call_options& options = {}) const {
    const auto sent = r.to_request();
    const detail::ready_and_sent<R> both{r, sent};
    checker c(both, owner(), generation());
    both.checked().check(c);
    using state = detail::asked<reply_to<sent_as<R>>>;
    auto answer = ref<state>::adopt(new state(core_));
    submit(detail::info_for(r), &sent, c, answer.get(), &answer->link, options);
    return pending<reply_to<sent_as<R>>>(std::move(answer));
  }
  /// Returns a handle to the same device for one client. Everything sent through it and its copies shares one deadline
  /// and one stop token, each `tell` and each step of a chain included. A scope within a scope obeys the limits of
  /// both.
  device within(const scope_options& o) const;
  /// Completes when the mailbox has room for `requests` more requests, so that sending them does not block. For threads
  /// that must not block. Another thread may take the room first. Fails with the reason if the device accepts no
  /// requests.
  [[nodiscard]] pending<void> room(std::uint32_t requests = 1) const;
  /// Completes when all requests queued before have completed and the data of downloads has arrived: memory of the
  /// application that they read or write may then be freed. Continuations of earlier answers may still be running.
  [[nodiscard]] pending<void> sync() const;
  /// Returns `value` after a round trip to the worker.
  [[nodiscard]] pending<std::uint64_t> ping(std::uint64_t value = 0) const;

  // --- memory ---
  /// Allocates memory for `count` elements without waiting for requests. On a GPU the worker allocates memory for many
  /// buffers at a time: one call in many waits for it, up to `start_timeout` while no worker is ready. If the
  /// allocation fails, the buffer is stale from the start: requests that use it are refused with the reason
  /// (`retry_later` if memory or quota are exhausted).
  template <class T>
  buffer<T> alloc(extent count, const alloc_options& o = {}) const {
    return buffer<T>(detail::alloc(*this, count, sizeof(T), o));
  }
  /// Allocates memory that both the application and the worker can access.
  template <class T>
  host_buffer<T> alloc_host(extent count, const alloc_options& o = {}) const {
    return host_buffer<T>(detail::alloc_host(*this, count, sizeof(T), o));
  }

  /// Allocates memory for these values and writes them to it. The values have been read when the call returns; if the
  /// upload fails, the buffer is stale with the error. Values of `std::complex` become `basic_complex`, which has the
  /// same layout.
  ///   buffer<float> x = gpu.upload(values);
  template <std::ranges::contiguous_range R>
    requires std::ranges::sized_range<R>
  buffer<detail::element_of<std::ranges::range_value_t<R>>> upload(const R& values, const alloc_options& o = {}) const {
    using T = detail::element_of<std::ranges::range_value_t<R>>;
    static_assert(sizeof(T) == sizeof(std::ranges::range_value_t<R>));
    const std::span from(reinterpret_cast<const T*>(std::ranges::data(values)), std::ranges::size(values));
    buffer<T> to = alloc<T>(from.size(), o);
    upload(to, from);
    return to;
  }
  /// Uploads a vector that packs its bools.
  buffer<bool> upload(const std::vector<bool>& values, const alloc_options& o = {}) const;
  /// Writes `from` to the first elements of `to`. `from` has been read when the call returns: a large span is copied in
  /// chunks, as fast as the device takes them.
  template <class T>
  pending<void> upload(const buffer<T>& to, std::type_identity_t<std::span<const T>> from,
                       const call_options& o = {}) const {
    return detail::upload(*this, to.memory(), std::as_bytes(from), o);
  }
  /// Uploads bools given as bytes, as a download of bools returns them: all values but 0 are true.
  pending<void> upload(const buffer<bool>& to, std::span<const std::uint8_t> from, const call_options& o = {}) const {
    return detail::upload(*this, to.memory(), std::as_bytes(from), o);
  }
  /// Uploads without blocking. `from` must not change before the answer.
  template <class T>
  pending<void> upload(const buffer<T>& to, const host_buffer<T>& from, const call_options& o = {}) const {
    return detail::upload(*this, to.memory(), from.memory(), o);
  }
  /// Reads all of `from`. The values of a buffer<bool> arrive as bytes, 1 for true and 0 for false.
  template <class T>
  pending<std::vector<detail::downloaded<T>>> download(const buffer<T>& from, const call_options& o = {}) const {
    using state = detail::vector_download<T>;
    auto answer = ref<state>::adopt(new state(core_));
    detail::download(*this, from.memory(), *answer, answer->link, &state::room, &state::finish, o);
    return pending<std::vector<detail::downloaded<T>>>(std::move(answer));
  }
  /// Reads all of `from` into the first elements of `to`, which must be large enough and live until the answer.
  template <class T>
  pending<void> download(const buffer<T>& from, std::type_identity_t<std::span<T>> to,
                         const call_options& o = {}) const {
    return detail::download(*this, from.memory(), std::as_writable_bytes(to), o);
  }
  template <class T>
  pending<void> download(const buffer<T>& from, const host_buffer<T>& to, const call_options& o = {}) const {
    return detail::download(*this, from.memory(), to.memory(), o);
  }
  /// Copies all of `from` to the first elements of `to`.
  template <class T>
  pending<void> copy(const buffer<T>& to, const buffer<T>& from, const call_options& o = {}) const {
    return detail::copy(*this, to.memory(), from.memory(), o);
  }
  /// Sets every element to `value`.
  template <class T>
  pending<void> fill(const buffer<T>& to, std::type_identity_t<T> value, const call_options& o = {}) const {
    static_assert(sizeof(T) <= 16, "fill repeats up to 16 bytes");
    return detail::fill(*this, to.memory(), std::as_bytes(std::span<const T>(&value, 1)), o);
  }
  /// Releases memory that no buffer uses, and returns the number of bytes.
  std::uint64_t trim() const;

  // --- life ---
  /// Completes when the device serves for the first time, or fails with the reason why it never will. Requests may be
  /// queued before.
  [[nodiscard]] pending<void> started() const;
  /// Completes when the device has stopped, without an error after an orderly close.
  [[nodiscard]] pending<void> stopped() const;
  /// Refuses new requests from now on; completes when all earlier ones are answered and the worker has ended.
  [[nodiscard]] pending<void> close() const;
  /// Closes likewise, but requests that have not started are answered `stopped`, and those that run for longer than
  /// `close_timeout` are answered `context_lost`.
  [[nodiscard]] pending<void> close_now() const;
  /// Restarts a device that has stopped because its workers failed too often. Completes when it serves, or fails with
  /// the reason. If the device serves, only ends quarantines: see device_options::quarantine_after.
  [[nodiscard]] pending<void> reset() const;

  device_state state() const noexcept;
  /// Returns true if a worker would serve a request that is sent now. For health checks.
  bool ready() const noexcept { return state() == device_state::ready; }
  /// Returns a watch of the events from now on: restarts, their causes and durations.
  device_watch watch() const;
  /// Returns the record of the last fault; null if there was none.
  std::shared_ptr<const fault_record> last_fault() const;
  const std::string& name() const noexcept;
  device_statistics statistics() const;
  friend bool operator==(const device& a, const device& b) noexcept { return a.core_ == b.core_; }

 private:
  friend struct detail::device_access;
  friend class library_access;
  const memory_owner* owner() const noexcept;
  std::uint64_t generation() const noexcept;
  accepted submit(const request_info& info, const void* request, checker& checked, pending_core* answer,
                  request_link* link, const call_options& options) const;

  std::shared_ptr<device_core> core_;
  std::shared_ptr<request_scope> scope_;  // null without `within`
};

}  // namespace troupe

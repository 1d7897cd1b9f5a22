// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <troupe/async/accepted.hpp>
#include <troupe/async/pending.hpp>
#include <troupe/device/asked.hpp>
#include <troupe/device/options.hpp>
#include <troupe/device/request_info.hpp>
#include <troupe/device/scope.hpp>
#include <troupe/device/shared_memory.hpp>
#include <troupe/device/statistics.hpp>
#include <troupe/device/watch.hpp>
#include <troupe/memory/buffer.hpp>
#include <troupe/memory/host_buffer.hpp>
#include <troupe/memory/managed.hpp>
#include <troupe/memory/quota.hpp>
#include <troupe/request/checker.hpp>
#include <type_traits>
#include <vector>

namespace troupe {

class device_core;
class request_scope;

/// How to allocate.
struct alloc_options {
  std::uint64_t alignment = 256;  ///< bytes; a power of two; with `sealable` on a GPU at most 2 MiB
  bool zeroed = false;            ///< otherwise the content is whatever was there
  memory_quota quota = {};        ///< counts against it, when there is one
  bool sealable = false;          ///< takes whole pages, so that it can be sealed; `alloc` only
};

/// A part of a block, and what a request does with it.
struct checked_access {
  memory_range where;
  access_mode mode;
};

/// An accelerator behind an actor. A handle, cheap to copy, valid for ever: through every restart and after the device
/// has stopped.
///
/// Everything asked of a device happens *as if one at a time*, in the order of the calls; it overlaps only where nobody
/// can tell. So a computation can be queued as a whole and looked at once, at the end: an error anywhere before arrives
/// there. All functions may be called from any thread, and none throws.
class device {
 public:
  explicit device(std::shared_ptr<device_core> core) noexcept;
  // Moving copies: a handle is valid for ever.
  device(const device&) noexcept = default;
  device& operator=(const device&) noexcept = default;

  /// The same device, for one client: what is sent through this handle and its copies has one deadline and one stop
  /// token, which hold for `tell` and for each step of a chain as well. Within another scope both hold.
  ///   const device mine = gpu.within({.timeout = 200ms, .stop = client.get_token()});
  device within(const scope_options& o) const;
  /// The same device outside of all scopes: for what outlives a client, as programs and graphs do.
  device unscoped() const { return device(core_); }

  /// Queues a request. What it says no to, or fails at, makes its outputs stale with the reason.
  template <request R>
  accepted tell(const R& r, const call_options& options = {}) const {
    checker c(r, owner(), generation());
    r.check(c);
    return submit(detail::info_of<R>, &r, c, nullptr, nullptr, options);
  }

  /// Queues a request and gives its answer.
  template <request R>
  pending<typename R::reply> ask(const R& r, const call_options& options = {}) const {
    checker c(r, owner(), generation());
    r.check(c);
    using state = detail::asked<typename R::reply>;
    auto answer = ref<state>::adopt(new state(core_));
    submit(detail::info_of<R>, &r, c, answer.get(), &answer->link, options);
    return pending<typename R::reply>(std::move(answer));
  }

  /// Completes when the mailbox has room for `requests`, so that sending them does not block: for a thread that must
  /// not. Another thread may take the room first. Fails with the reason when the device accepts no requests.
  ///   for (auto& work : all) { co_await gpu.room(); gpu.tell(work); }
  pending<void> room(std::uint32_t requests = 1) const;

  /// What the request would touch, or why it would be refused now; without a look at what may be different when it is
  /// sent: whether an operand is stale or sealed. For a caller that keeps requests to have them run later.
  template <request R>
  result<std::vector<checked_access>> check_for_later(const R& r) const {
    checker c(r, owner(), generation());
    r.check(c);
    if (const auto& why = c.finish_for_later()) return *why;
    std::vector<checked_access> out;
    for (const operand_use& u : c.uses())
      out.push_back({{u.range->owner, u.touched.begin, u.touched.end - u.touched.begin}, u.touched.mode});
    return out;
  }

  /// Memory for `count` elements. Never waits for requests. On a GPU a worker makes the memory, now and then for many
  /// buffers at once: that call waits for it, while there is none for as long as `start_timeout`. When there is no
  /// memory, the buffer is stale from the start: every use is refused with the reason (`retry_later` when memory or
  /// quota are used up).
  template <class T>
  buffer<T> alloc(extent count, const alloc_options& o = {}) const {
    return buffer<T>(alloc_bytes(count, sizeof(T), o));
  }
  /// Memory that moves between the host and a GPU as it is used, and that can be larger than the GPU's. Only the worker
  /// that serves has it: when that one is replaced, the buffer is gone, which every use says. Waits for a worker. For
  /// `prefetch` and `advise`; without `sealable`. See docs/managed-memory.md.   cuMemAllocManaged
  template <class T>
  buffer<T> alloc_managed(extent count, const alloc_options& o = {}) const {
    return buffer<T>(alloc_managed_bytes(count, sizeof(T), o));
  }
  /// Memory that the application and the worker both see.
  template <class T>
  host_buffer<T> alloc_host(extent count, const alloc_options& o = {}) const {
    return host_buffer<T>(alloc_host_bytes(count, sizeof(T), o));
  }

  /// Writes `from` to the first elements of `to`. Ordinary memory has been read when the call returns; a large one goes
  /// in chunks while the device empties them, and the call lasts as long. Never blocks with a host_buffer, which must
  /// not change until the answer.
  template <class T>
  pending<void> upload(const buffer<T>& to, std::type_identity_t<std::span<const T>> from,
                       const call_options& o = {}) const {
    return upload_bytes(to.memory(), std::as_bytes(from), o);
  }
  template <class T>
  pending<void> upload(const buffer<T>& to, const host_buffer<T>& from, const call_options& o = {}) const {
    return copy_bytes(way::up, to.memory(), from.memory(), o);
  }

  /// Reads all of `from`.
  template <class T>
  pending<std::vector<T>> download(const buffer<T>& from, const call_options& o = {}) const {
    using state = detail::vector_download<T>;
    auto answer = ref<state>::adopt(new state(core_));
    download_bytes(from.memory(), *answer, answer->link, &state::room, &state::finish, o);
    return pending<std::vector<T>>(std::move(answer));
  }
  /// Reads all of `from` into the first elements of `to`, which must have room for it and live until the answer.
  template <class T>
  pending<void> download(const buffer<T>& from, std::type_identity_t<std::span<T>> to,
                         const call_options& o = {}) const {
    return download_into(from.memory(), std::as_writable_bytes(to), o);
  }
  template <class T>
  pending<void> download(const buffer<T>& from, const host_buffer<T>& to, const call_options& o = {}) const {
    return copy_bytes(way::down, to.memory(), from.memory(), o);
  }

  /// Copies all of `from` to the first elements of `to`.
  template <class T>
  pending<void> copy(const buffer<T>& to, const buffer<T>& from, const call_options& o = {}) const {
    return copy_bytes(way::across, to.memory(), from.memory(), o);
  }
  /// The same from a buffer of another device. It has its place in the order of both: it copies what was written there
  /// before this call, and what is sent there later does not write the source before it is copied. When either device
  /// fails, so does the copy, with that cause, and the target is stale with it. Without `retries`. See docs/peers.md.
  template <class T>
  pending<void> copy_from(const device& other, const buffer<T>& to, const buffer<T>& from,
                          const call_options& o = {}) const {
    return copy_from_device(other, to.memory(), from.memory(), o);
  }
  /// How this device sees another one. On GPUs known once a worker of each was ready (await `started()` first).
  result<peer_info> peer(const device& other) const;
  /// Maps the memory that `other` owns now into the workers of this device, present and future, so that no copy has to
  /// do it first. Refused as `unsupported` where there is no access; copies need none.
  result<void> enable_peer(const device& other) const;
  /// Copies `columns` columns of `rows` elements between column-major places with their own leading dimensions;
  /// `tight`: no gaps.
  template <class T>
  pending<void> copy_2d(const buffer<T>& to, extent to_ld, const buffer<T>& from, extent from_ld, extent rows,
                        extent columns, const call_options& o = {}) const {
    const auto pitch = [](extent ld) { return ld == tight ? ld : ld * sizeof(T); };
    return copy_pitched(to.memory(), pitch(to_ld), from.memory(), pitch(from_ld), rows * sizeof(T), columns, o);
  }
  /// Moves managed memory to where it will be used next, in its order among the requests. Never needed for what is
  /// computed.   cuMemPrefetchAsync / madvise
  template <class T>
  pending<void> prefetch(const buffer<T>& b, managed_place to, const call_options& o = {}) const {
    return ask(memory::prefetch{.range = in<std::byte>(b.memory()), .bytes = b.bytes(), .to = to}, o);
  }
  /// Says how managed memory will be used. `where` is whom `preferred_location` and `accessed_by` are about, and their
  /// ends.   cuMemAdvise
  template <class T>
  pending<void> advise(const buffer<T>& b, managed_advice what, managed_place where = managed_place::device,
                       const call_options& o = {}) const {
    return ask(memory::advise{.range = in<std::byte>(b.memory()), .bytes = b.bytes(), .what = what, .where = where}, o);
  }
  /// The advice in force for the whole range, and where it was last prefetched.   cuMemRangeGetAttributes
  template <class T>
  pending<managed_range> managed(const buffer<T>& b, const call_options& o = {}) const {
    return ask(memory::look_at_managed{.range = in<std::byte>(b.memory()), .bytes = b.bytes()}, o);
  }
  /// Sets every element to `value`.
  template <class T>
  pending<void> fill(const buffer<T>& to, std::type_identity_t<T> value, const call_options& o = {}) const {
    static_assert(sizeof(T) <= 16, "fill repeats up to 16 bytes");
    return fill_bytes(to.memory(), std::as_bytes(std::span<const T>(&value, 1)), o);
  }
  /// Answered when everything queued before is done and the data of downloads has arrived: whatever they read from or
  /// wrote to may be let go. Continuations of earlier answers may still be running.
  pending<void> sync() const;
  /// Makes the memory of a buffer read-only in every worker, now and to come: no fault and no kernel, however broken,
  /// changes it, and it stays valid through all of them. For buffers allocated with `sealable`, as a whole. From this
  /// call on requests that would write it are refused; those sent before are done first, and if one of them failed,
  /// so does this, and the buffer is not sealed. Nor is it when the worker fails before the answer.   mprotect
  template <class T>
  pending<void> seal(const buffer<T>& b) const {
    return seal_memory(b.memory());
  }
  /// The end of that. From this call on it may be written again, and is an ordinary buffer.
  template <class T>
  pending<void> unseal(const buffer<T>& b) const {
    return unseal_memory(b.memory());
  }
  /// For other programs, or other code in this one: see docs/interop.md. Until they are done, `lend` it and hold on to
  /// the buffer: its memory is used again when the last handle goes. Not of what is sealed, which they could write; and
  /// what was exported cannot be sealed.
  template <class T>
  result<shared_memory> export_memory(const buffer<T>& b) const {
    return export_range(b.memory());
  }
  template <class T>
  result<shared_memory> export_memory(const host_buffer<T>& b) const {
    return export_range(b.memory());
  }
  /// The other way round: a buffer in memory that somebody else has made, at the same place in all workers to come too.
  /// Its content counts as written. What cannot be opened gives a buffer that is stale from the start, with the reason.
  template <class T>
  buffer<T> import_memory(shared_memory from) const {
    return buffer<T>(import_range(std::move(from), sizeof(T), alignof(T)));
  }
  /// The same for memory without a descriptor, which only a worker that is a thread can reach: see isolation::thread.
  /// `keep` goes with the last handle and the last request.
  template <class T>
  buffer<T> adopt_memory(T* data, extent count, std::shared_ptr<const void> keep) const {
    return buffer<T>(adopt_range(reinterpret_cast<std::byte*>(data), count * sizeof(T), alignof(T), std::move(keep)));
  }
  /// Answered when everything sent before that uses the buffer is done: then it is somebody else's, until it is taken
  /// back. Nothing is to be sent for it meanwhile.
  template <class T>
  pending<void> lend(const buffer<T>& b) const {
    return lend_range(b.memory());
  }
  /// What somebody else has left in it counts as written; all of it.
  template <class T>
  pending<void> take_back(const buffer<T>& b) const {
    return take_back_range(b.memory());
  }
  /// A request that was refused when it was sent has made what it writes stale, though nothing ran and the bytes are as
  /// they were. This makes them count again as what they are: for the case that the request is not missed. Refused
  /// where the buffer is stale for any other reason.
  template <class T>
  result<void> keep_content(const buffer<T>& b) const {
    return keep_range(b.memory());
  }
  /// Where this process can address it, without lending it: of the host engine always, on a GPU only with
  /// isolation::thread.
  template <class T>
  result<addressed_memory> address(const buffer<T>& b) const {
    return address_range(b.memory());
  }
  /// Memory that the application writes and workers may only read, as library actors need it for what they send: no
  /// fault takes it along. It counts as host memory.
  memory_range alloc_sent(extent bytes) const;
  /// A round trip to the worker that does nothing.
  pending<std::uint64_t> ping(std::uint64_t value = 0) const;

  /// Answered once the device has come to serve, or with the reason why it never will; `state()` says how it is now.
  /// Requests may be queued before.
  pending<void> started() const;
  /// Answered when the device has stopped: without an error after an orderly close.
  pending<void> stopped() const;
  /// No new requests from now on; the answer comes when all earlier ones are answered and the worker has ended.
  pending<void> close() const;
  /// The same, but what has not started is answered `stopped`, and what runs for longer than close_timeout
  /// `context_lost`.
  pending<void> close_now() const;

  /// A device that has stopped because its worker failed too often tries again. Answered when it serves, or with the
  /// reason why it does not. Of one that serves it only ends quarantines: see device_options::quarantine_after.
  pending<void> reset() const;

  device_state state() const noexcept;
  /// For health checks: whether a request sent now would be served now, by a worker that is there.
  bool ready() const noexcept { return state() == device_state::ready; }
  /// Events from now on: restarts, their causes and durations.
  device_watch watch() const;
  /// The black box of the last fault; null before any.
  std::shared_ptr<const fault_record> last_fault() const;
  const std::string& name() const noexcept;
  device_statistics statistics() const;
  /// Returns memory that no buffer uses to the system; returns the bytes.
  std::uint64_t trim() const;
  friend bool operator==(const device& a, const device& b) noexcept { return a.core_ == b.core_; }

 private:
  enum class way : std::uint8_t { up, down, across };
  using destination = std::byte* (*)(pending_core& state, std::size_t bytes) noexcept;
  using finisher = void (*)(pending_core& state, const error* why) noexcept;

  const memory_owner* owner() const noexcept;
  std::uint64_t generation() const noexcept;
  accepted submit(const request_info& info, const void* request, checker& checked, pending_core* answer,
                  request_link* link, const call_options& options) const;
  memory_range alloc_bytes(extent count, std::size_t element_bytes, const alloc_options& o) const;
  result<shared_memory> export_range(const memory_range& r) const;
  memory_range import_range(shared_memory from, std::size_t element_bytes, std::size_t alignment) const;
  memory_range adopt_range(std::byte* data, extent bytes, std::size_t alignment,
                           std::shared_ptr<const void> keep) const;
  pending<void> lend_range(const memory_range& r) const;
  pending<void> take_back_range(const memory_range& r) const;
  result<void> keep_range(const memory_range& r) const;
  result<addressed_memory> address_range(const memory_range& r) const;
  pending<void> seal_memory(const memory_range& r) const;
  pending<void> unseal_memory(const memory_range& r) const;
  memory_range alloc_managed_bytes(extent count, std::size_t element_bytes, const alloc_options& o) const;
  memory_range alloc_host_bytes(extent count, std::size_t element_bytes, const alloc_options& o) const;
  pending<void> upload_bytes(const memory_range& to, std::span<const std::byte> from, const call_options& o) const;
  pending<void> copy_bytes(way w, const memory_range& to, const memory_range& from, const call_options& o) const;
  pending<void> copy_from_device(const device& other, const memory_range& to, const memory_range& from,
                                 const call_options& o) const;
  pending<void> copy_pitched(const memory_range& to, extent to_pitch, const memory_range& from, extent from_pitch,
                             extent width, extent rows, const call_options& o) const;
  pending<void> fill_bytes(const memory_range& to, std::span<const std::byte> pattern, const call_options& o) const;
  void download_bytes(const memory_range& from, pending_core& state, request_link& link, destination where,
                      finisher finish, const call_options& o) const;
  pending<void> download_into(const memory_range& from, std::span<std::byte> to, const call_options& o) const;

  std::shared_ptr<device_core> core_;
  std::shared_ptr<request_scope> scope_;  // mostly null
};

}  // namespace troupe

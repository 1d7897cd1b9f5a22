// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cerrno>
#include <memory>
#include <troupe/async/accepted.hpp>
#include <troupe/async/pending.hpp>
#include <troupe/device/core/device_loop.hpp>
#include <troupe/device/mailbox/mailbox_room.hpp>
#include <troupe/device/mailbox/shared_channel.hpp>
#include <troupe/device/options.hpp>
#include <troupe/device/request_info.hpp>
#include <troupe/device/statistics.hpp>
#include <troupe/memory/blocks/device_memory.hpp>
#include <troupe/request/checker.hpp>

namespace troupe {

/// Counts the requests that the call itself rejected, by reason. Thread-safe.
class rejection_counts {
 public:
  void add(const error& why, const checker& checked) noexcept {
    counter_for(why, checked).fetch_add(1, std::memory_order_relaxed);
  }
  rejected_requests now() const noexcept {
    const auto read = [](const std::atomic<std::uint64_t>& n) { return n.load(std::memory_order_relaxed); };
    return {.invalid = read(invalid_),
            .stale_data = read(stale_data_),
            .mailbox_full = read(mailbox_full_),
            .overdue = read(overdue_),
            .no_memory = read(no_memory_),
            .stopped = read(stopped_)};
  }

 private:
  std::atomic<std::uint64_t>& counter_for(const error& why, const checker& checked) noexcept {
    if (const error* const stale = checked.stale_data(); stale != nullptr && stale->text() == why.text())
      return stale_data_;
    if (why.reaction() == reaction::stopped) return stopped_;
    if (why.reaction() != reaction::retry_later) return invalid_;
    return why.code() == EAGAIN ? mailbox_full_ : why.code() == ENOMEM ? no_memory_ : overdue_;
  }

  std::atomic<std::uint64_t> invalid_{0}, stale_data_{0}, mailbox_full_{0}, overdue_{0}, no_memory_{0}, stopped_{0};
};

class cancellations;
class completion;
class peer_copy;
class quarantine_guard;
class reactor_link;
class request_scope;
class shared_segments;
class start_deadlines;
class watchdog;
struct device_board;
struct request_link;

/// Sends requests. Each request is checked, gets a slot, is written to shared memory, gets its ticket (its place in the
/// order), and is published. Thread-safe. Lock-free in the usual case: a small request without time limits that finds a
/// free slot.
class request_mailbox {
 public:
  request_mailbox(device_board& board, const shared_segments& segments, completion& completion,
                  quarantine_guard& quarantine, start_deadlines& deadlines, watchdog& watchdog) noexcept;

  /// One half of a copy between devices. The caller has taken a slot for it.
  struct peer_half {
    const std::shared_ptr<peer_copy>& copy;
    bool is_source;
    std::uint32_t slot;
    std::int64_t start_deadline_ns;
  };
  /// Sends a request. Completes `answer` in every case. Sets `link` if the request can be cancelled. `scope` may be
  /// null. `extra` lives as long as the request.
  accepted submit(const request_info& info, const void* request, checker& checked, pending_core* answer,
                  request_link* link, const call_options& options, const std::shared_ptr<request_scope>& scope,
                  block_ref extra = {}, const peer_half* half = nullptr);

  /// Returns the earlier of the request's own deadline and that of `scope`, which may be null.
  std::int64_t start_deadline_of(const call_options& options, const request_scope* scope) const noexcept;
  std::int64_t run_limit_of(const request_info& info, const call_options& options,
                            const request_scope* scope) const noexcept;
  /// Takes a slot for `submit`. Waits for one if the options allow it; returns ledger::none if no slot became free.
  std::uint32_t take_slot(const call_options& options, std::int64_t start_deadline_ns,
                          const request_scope* scope) noexcept;
  error why_no_slot(const call_options& options, std::int64_t start_deadline_ns, const request_scope* scope) const;

  /// Returns a pending that completes when there is room for `requests` more. It keeps the device alive.
  pending<void> room(std::uint32_t requests, const std::shared_ptr<request_scope>& scope,
                     const std::shared_ptr<device_core>& device);
  void cancel_room(const room_answer& answer) noexcept;
  /// Cancels the scope's requests that have not started, and its calls of `room`.
  void stop_requests_of(const std::shared_ptr<request_scope>& scope) noexcept;

  rejected_requests rejected() const noexcept { return rejected_.now(); }

  /// Must be called when a buffer may no longer be written, before the request that seals it is sent.
  void seal_begins() noexcept { seals_begun_.fetch_add(1, std::memory_order_seq_cst); }

 private:
  class slot_guard;
  std::optional<error> why_refused(const std::optional<error>& wrong, const checker& checked,
                                   const call_options& options, const request_scope* scope) const;
  accepted refuse(const error& why, const checker& checked, pending_core* answer, const request_info& info);
  accepted refuse_with_slot(std::uint32_t slot, const error& why, const checker& checked, pending_core* answer,
                            const request_info& info);
  void prefetch(std::uint32_t slot, std::size_t accesses, std::size_t payload_bytes) noexcept;
  result<void> make_blob(ledger_entry& e, std::span<const block_access> listed, std::size_t bytes, blob_cursor& cursor,
                         memory_access& list);
  std::uint8_t hold_operands(ledger_entry& e, std::span<const operand_use> uses, std::vector<block_access>& joined_uses,
                             std::size_t count);
  std::optional<error> claim_ticket(bool watched, std::uint32_t slot, std::string_view label, request_link* link,
                                    std::uint64_t& ticket);
  void publish(std::uint32_t slot, std::uint64_t ticket, const request_info& info,
               const std::shared_ptr<request_scope>& scope);
  void watch_limits(std::span<const operand_use> uses, std::uint64_t ticket, std::int64_t deadline,
                    std::int64_t run_limit);
  void mark_written(std::span<const operand_use> uses, std::uint64_t ticket);
  void return_slot(std::uint32_t slot) noexcept;
  bool waits_for_room(const call_options& options) const noexcept;
  void refuse_published(ledger_entry& e, std::byte* record, const checker& checked, const error& why);

  const device_options& options_;
  const device_loop& loop_;
  shared_channel& channel_;
  ledger& requests_;
  device_memory& memory_;
  const shared_segments& segments_;
  admission& admission_;
  mailbox_room& room_;
  cancellations& cancelled_;
  completion& completion_;
  reactor_link& to_reactor_;
  quarantine_guard& quarantine_;
  start_deadlines& start_deadlines_;
  watchdog& watchdog_;
  std::atomic<std::uint32_t> seals_begun_{0};
  rejection_counts rejected_;
};

}  // namespace troupe

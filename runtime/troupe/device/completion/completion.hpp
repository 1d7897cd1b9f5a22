// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <optional>
#include <troupe/channel/ring.hpp>
#include <troupe/device/completion/cancellations.hpp>
#include <troupe/device/completion/download_tracker.hpp>
#include <troupe/device/completion/last_of.hpp>
#include <troupe/device/completion/open_requests.hpp>
#include <troupe/device/recovery/supervision.hpp>
#include <troupe/memory/device_memory.hpp>

namespace troupe {

namespace protocol {
struct parsed_report;
}
class mailbox_room;
class reactor;
class worker_pool;

/// How answers get from shared memory to those that wait for them. Everything read from there is hostile: it is read
/// once into a local, checked, and only the local is used. One thread at a time collects, with the drive lock; every
/// thread that waits helps.
class completion {
 public:
  completion(shared_channel& channel, ledger& requests, device_memory& memory, cancellations& cancelled,
             serving_worker& worker, download_tracker& downloads, mailbox_room& room, reactor& waiting,
             worker_pool& workers, supervision& supervisor) noexcept;

  /// False: another thread was at it, and looks once more for this one.
  bool drive() noexcept;
  /// Returns when all has been collected, even if another thread is at it.
  void drive_surely() noexcept;
  /// Keeps every other thread from collecting. One that came to do so meanwhile has left a note, and is stood in for.
  class lock {
   public:
    [[nodiscard]] explicit lock(completion& c) : completion_(c) { c.drive_lock_.lock(); }
    ~lock() {
      completion_.drive_lock_.unlock();
      if (completion_.drive_again_.load(std::memory_order_seq_cst)) completion_.drive();
    }
    lock(const lock&) = delete;

   private:
    completion& completion_;
  };

  /// Cancels a request that has not started.
  void cancel(std::uint32_t slot, std::uint64_t ticket, const char* why, reaction how) noexcept;
  /// A request that was checked before a failure became known and published after it.
  void look_at_inputs_again(std::uint32_t slot, std::uint64_t ticket);
  /// The worker wrote something impossible.
  void violated(const char* what) noexcept;

  /// For senders: what was checked before these counts moved may have to be looked at again.
  std::uint64_t reports_seen(std::memory_order order) const noexcept { return reports_seen_.load(order); }
  std::uint32_t failures_seen(std::memory_order order) const noexcept { return failures_seen_.load(order); }
  /// No worker will answer: the thread that drives answers everything.
  bool dead() const noexcept { return dead_.load(std::memory_order_seq_cst); }

  /// From now on every request without an answer gets this error; nothing: workers answer again.
  void end_all(const std::optional<error>& why);
  /// From now on the supervisor is told when no request is left, once.
  void expect_the_end(bool closing) noexcept { closing_.store(closing, std::memory_order_seq_cst); }
  bool expects_the_end() const noexcept { return closing_.load(std::memory_order_seq_cst); }

  // With the drive lock, for recovery.
  void collect();
  void take_cancelled();
  void answer_failures();
  /// What `marks` will tell is known from now on, to senders too.
  void count_failures() noexcept { failures_seen_.fetch_add(1, std::memory_order_seq_cst); }
  /// With its request retired first, where it can be: a thread that has the answer finds its memory given back and its
  /// slot free.
  void settle(std::uint32_t slot, const error* why, bool retires) noexcept;
  void retire(std::uint32_t slot) noexcept;
  /// Nothing has been read of the worker whose channel this is.
  result<void> begin_reading();
  const std::array<std::uint64_t, max_lanes>& retired() const noexcept { return retired_; }

  bool news() const noexcept;
  std::uint64_t completed() const noexcept { return completed_.load(); }
  std::uint64_t failed() const noexcept { return failed_.load(); }
  struct recent {
    std::uint64_t ticket;
    const request_info* info;
  };
  /// The last that were answered. With the drive lock.
  const last_of<recent, 16>& last_answered() const noexcept { return recent_; }

 private:
  void read_reports();
  bool read_report(std::uint64_t number);
  void name_cause(protocol::parsed_report& report, const request_info& info);
  void name_peer(error::details& what, const ledger_entry& e);
  void will_settle(std::uint32_t slot) noexcept;
  void retire_lanes(const std::array<std::uint64_t, max_lanes>& done);
  void fail(std::uint32_t slot, const error& why);
  void spread_failures();
  void answer_everything();
  void look_whether_drained() noexcept;

  shared_channel& channel_;
  ledger& requests_;
  device_memory& memory_;
  cancellations& cancelled_;
  serving_worker& worker_;
  download_tracker& downloads_;
  mailbox_room& room_;
  reactor& waiting_;
  worker_pool& workers_;
  supervision& supervisor_;

  std::mutex drive_lock_;
  std::atomic<bool> drive_again_{false};
  std::optional<ring_reader> reports_;
  open_requests failing_;  // what `fail` was called for, and `answer_failures` not yet
  std::atomic<std::uint64_t> reports_seen_{0};
  std::atomic<std::uint32_t> failures_seen_{0};  // counts on before anybody looks whom a failure concerns
  std::atomic<bool> dead_{false}, closing_{false};
  bool drained_ = false;
  std::optional<error> death_;
  struct unknown_request {
    std::uint64_t ticket;
    std::string_view label;
  };
  last_of<unknown_request, 64> nameless_;                     // requests that no engine knew
  std::vector<std::pair<std::uint64_t, error>> peer_causes_;  // of the most recent copies that another device failed
  std::array<std::uint64_t, max_lanes> retired_{};
  std::atomic<std::uint64_t> retired_total_{0};          // by lanes, whose counters are compared with it
  std::atomic<std::uint64_t> completed_{0}, failed_{0};  // answered, however; failed of those
  last_of<recent, 16> recent_;
};

}  // namespace troupe

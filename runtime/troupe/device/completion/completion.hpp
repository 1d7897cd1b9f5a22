// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <troupe/channel/ring.hpp>
#include <troupe/device/completion/cancellations.hpp>
#include <troupe/device/completion/download_tracker.hpp>
#include <troupe/device/completion/last_of.hpp>
#include <troupe/device/completion/open_requests.hpp>
#include <troupe/device/recovery/supervision.hpp>
#include <troupe/device/waiting/reactor_link.hpp>
#include <troupe/memory/blocks/device_memory.hpp>

namespace troupe {

namespace protocol {
struct parsed_report;
}
class mailbox_room;
class worker_pool;
struct device_board;

/// Collects answers from shared memory and completes the callers' pendings. Treats everything in shared memory as
/// hostile: it is read once into a local variable, checked, and only that variable is used. One thread at a time
/// collects, under the drive lock; every waiting thread calls `drive`.
class completion {
 public:
  completion(device_board& board, worker_pool& workers, supervision& supervisor) noexcept;

  /// Collects the answers that are there. Returns false if another thread holds the drive lock: then that thread
  /// collects again on behalf of this one.
  bool drive() noexcept;
  /// Waits for the drive lock if necessary, and returns when everything has been collected.
  void drive_blocking() noexcept;
  /// Holds the drive lock, so that no other thread collects, and keeps the continuations of the answers that it sets.
  /// The destructor passes them to the reactor and, if another thread called `drive` meanwhile, drives on its behalf.
  class lock {
   public:
    [[nodiscard]] explicit lock(completion& c) : completion_(c), now_(std::in_place, c.to_reactor_) {
      c.drive_lock_.lock();
    }
    ~lock() {
      const bool again = locked_ && release();
      now_.reset();
      if (again) completion_.drive();
    }
    lock(const lock&) = delete;
    /// Releases the drive lock, and still keeps the continuations.
    void unlock() noexcept {
      if (release()) completion_.drive();
    }

    void collect() { completion_.collect(*now_); }
    void take_cancelled() { completion_.take_cancelled(); }
    void answer_failures() { completion_.answer_failures(); }
    /// Answers the request. If `retires`, retires it first, so that a thread that has the answer finds the request's
    /// memory released and its slot free.
    void settle(std::uint32_t slot, const error* why, bool retires) noexcept { completion_.settle(slot, why, retires); }
    void retire(std::uint32_t slot) noexcept { completion_.retire(slot); }

   private:
    bool release() noexcept {
      locked_ = false;
      completion_.drive_lock_.unlock();
      return completion_.drive_again_.load(std::memory_order_seq_cst);
    }
    completion& completion_;
    std::optional<answering> now_;
    bool locked_ = true;
  };

  /// Cancels the request if it has not started.
  void cancel(std::uint32_t slot, std::uint64_t ticket, const cancellations::reason& why) noexcept;
  /// Cancels the open requests for which `wanted` returns true and that have not started.
  void cancel_if(const std::function<bool(const ledger_entry&)>& wanted, const cancellations::reason& why) noexcept;
  /// Must be called before request `ticket` removes or replaces marks, because an earlier request needs them if it was
  /// checked before a failure became known and is published after it.
  void recheck_inputs_before(std::uint64_t ticket);
  /// Reports to the supervisor, once for each worker, that the worker wrote an impossible value.
  void report_violation(const char* what) noexcept;

  /// Must be called before a request that has request_info::failure_in is published.
  void expect_failing_replies() noexcept { replies_may_fail_.store(true, std::memory_order_seq_cst); }

  /// Return counts that senders read before they check a request. If a count has changed since, the check may be out of
  /// date.
  std::uint64_t reports_seen(std::memory_order order) const noexcept { return reports_seen_.load(order); }
  std::uint32_t failures_seen(std::memory_order order) const noexcept { return failures_seen_.load(order); }
  /// Returns true if no worker will answer, so that the driving thread fails every request.
  bool dead() const noexcept { return dead_.load(std::memory_order_seq_cst); }

  /// Fails every outstanding and future request with `why`, until `revive`.
  void end_all(const error& why);
  /// Lets workers answer requests again. All requests that were sent before have been answered by then; returns the
  /// ticket of the last one.
  std::uint64_t revive();
  /// While it is set, the supervisor receives one event when all requests are answered.
  void set_closing(bool on) noexcept { closing_.store(on, std::memory_order_seq_cst); }
  bool closing() const noexcept { return closing_.load(std::memory_order_seq_cst); }

  // The caller of these functions holds the drive lock.
  /// Raises the count of failures, so that checks that did not find the stale marks set next are repeated.
  void count_failures() noexcept { failures_seen_.fetch_add(1, std::memory_order_seq_cst); }
  /// Begins to read the mapped channel from its start.
  result<void> begin_reading();
  const std::array<std::uint64_t, max_lanes>& retired() const noexcept { return retired_; }

  bool has_news() const noexcept;
  std::uint64_t completed() const noexcept { return completed_.load(); }
  std::uint64_t failed() const noexcept { return failed_.load(); }
  struct recent {
    std::uint64_t ticket;
    const request_info* info;
    bool failed;
  };
  /// Returns the requests that were answered last. The caller holds the drive lock.
  const last_of<recent, 16>& last_answered() const noexcept { return recent_; }

 private:
  using lane_counts = std::array<std::uint64_t, max_lanes>;
  void collect(const answering& now);
  void take_cancelled();
  void answer_failures();
  void settle(std::uint32_t slot, const error* why, bool retires) noexcept;
  void retire(std::uint32_t slot) noexcept;
  void read_reports();
  bool read_report(std::uint64_t number);
  void complete_names(protocol::parsed_report& report, std::uint32_t slot);
  void name_peer_cause(error::details& what, const ledger_entry& e);
  void fail_by_replies(const lane_counts& done);
  void fail_by_reply(std::uint32_t slot);
  class retirement;
  void retire_lanes(const lane_counts& done);
  // The answer of a request, which may be retired already.
  struct due_answer {
    pending_core* to;  // null if nobody wants the answer
    const request_info* info;
    std::array<std::byte, max_reply_bytes> reply;
    void give(const error* why) noexcept;
  };
  void take_answer(std::uint32_t slot, const error* why, due_answer& into) noexcept;
  void vacate(std::uint32_t slot) noexcept;  // releases what the request holds; does not give back its slot
  void fail(std::uint32_t slot, const error& why);
  void spread_failures();
  void answer_everything(std::uint64_t up_to);
  void check_drained() noexcept;

  shared_channel& channel_;
  ledger& requests_;
  device_memory& memory_;
  cancellations& cancelled_;
  serving_worker& worker_;
  download_tracker& downloads_;
  mailbox_room& room_;
  reactor_link& to_reactor_;
  worker_pool& workers_;
  supervision& supervisor_;

  std::mutex drive_lock_;
  std::atomic<bool> drive_again_{false};
  std::optional<ring_reader> reports_;
  open_requests failing_;  // failed requests that `answer_failures` has yet to answer
  std::atomic<std::uint64_t> reports_seen_{0};
  std::uint64_t reports_of_others_ = 0;          // number of reports that earlier workers wrote
  std::atomic<std::uint32_t> failures_seen_{0};  // incremented before the requests that a failure affects are searched
  std::atomic<bool> dead_{false}, closing_{false}, replies_may_fail_{false};
  bool drained_ = false;
  std::optional<error> death_;
  last_of<request_id, 256> named_;  // failed requests that the worker cannot name, or only by type
  std::vector<std::pair<std::uint64_t, error>> peer_causes_;  // of the latest copies that failed on the other device
  lane_counts retired_{};                                     // retired operations, by lane
  lane_counts retired_words_{};                               // the checked_count words of these
  std::atomic<std::uint64_t> retired_words_total_{0};         // sum of retired_words_
  std::atomic<std::uint64_t> completed_{0}, failed_{0};       // answered requests; those answered with an error
  last_of<recent, 16> recent_;
};

}  // namespace troupe

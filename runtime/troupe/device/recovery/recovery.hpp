// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <troupe/device/completion/open_requests.hpp>
#include <troupe/device/fault.hpp>
#include <troupe/device/options.hpp>
#include <troupe/memory/device_memory.hpp>

namespace troupe {

class cancellations;
class completion;
class download_tracker;
class fault_reporter;
class reactor;
class shared_segments;
class start_deadlines;
class worker_link;
class worker_pool;

/// From one worker to the next: every request gets its one answer, from the one that died or from the one that follows.
/// On the control loop.
class recovery {
 public:
  recovery(const device_options& options, shared_channel& channel, ledger& requests, device_memory& memory,
           completion& answers, cancellations& cancelled, start_deadlines& deadlines, download_tracker& downloads,
           serving_worker& worker, worker_pool& workers, shared_segments& segments, fault_reporter& faults,
           reactor& waiting) noexcept;

  /// The worker that served is dead. What it finished is answered so; what it had started and not finished gets the
  /// cause, or runs again if it may; what it had not started is kept for the next one, if what it reads has survived or
  /// is written again before.
  void sort_out(const device_supervisor::action& death);
  /// No other worker follows: every request gets the cause.
  void answer_all(const device_supervisor::action& end);
  /// From now on the channel is the one that this worker shares, and the mailbox is its own to read.
  result<void> serve(worker_link& link);
  /// After `answer_all`: a device begins again.
  void begin_anew();

 private:
  void sort_requests(const open_requests& open, fault_record& record);
  request_fate fate_of(std::uint32_t slot, std::uint64_t ticket, const fault_record& death,
                       device_memory::marking& marks);
  std::optional<error> missing_input(const ledger_entry& e, device_memory::marking& marks);
  void keep(std::uint32_t slot, std::uint64_t ticket, device_memory::marking& marks);
  bool words_are_possible(const open_requests& open) const noexcept;

  const device_options& options_;
  shared_channel& channel_;
  ledger& requests_;
  device_memory& memory_;
  completion& completion_;
  cancellations& cancelled_;
  start_deadlines& start_deadlines_;
  download_tracker& downloads_;
  serving_worker& worker_;
  worker_pool& workers_;
  shared_segments& segments_;
  fault_reporter& faults_;
  reactor& waiting_;
  std::uint32_t kept_ = 0;         // requests on the mailbox's list for the next worker
  std::uint64_t next_ticket_ = 1;  // and where it goes on
};

}  // namespace troupe

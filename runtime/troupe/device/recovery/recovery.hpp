// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <troupe/device/completion/completion.hpp>
#include <troupe/device/fault.hpp>
#include <troupe/memory/blocks/device_memory.hpp>

namespace troupe {

class fault_reporter;
class shared_segments;
class start_deadlines;
class worker_link;
class worker_pool;
struct device_board;

/// Takes the open requests from one worker to the next. Each request is answered once: by the worker that died, by the
/// next one, or by this class. Used on the control loop.
class recovery {
 public:
  recovery(device_board& board, completion& completion, start_deadlines& deadlines, worker_pool& workers,
           shared_segments& segments, fault_reporter& faults) noexcept;

  /// Decides what happens to each open request after the serving worker has died. Finished requests are answered.
  /// Requests that had started fail with the cause, or run again if their retries allow it. Requests that had not
  /// started are kept for the next worker if the data that they read has survived or is written again before they run.
  void sort_out(const device_supervisor::action& death);
  /// Returns how long the GPU may still write for the serving worker after the worker has left its memory, because
  /// copies are under way. Returns nullopt if that is unknown: the worker has no proof that its kernels have ended, or
  /// is not to be trusted.
  std::optional<time_span> writes_on_for();
  /// Answers every request with the cause, because no other worker follows.
  void answer_all(const device_supervisor::action& end);
  /// Maps this worker's channel and lets it read the mailbox.
  result<void> serve(worker_link& link);
  /// Does the same for a device whose files are lost. Its memory then stays as it is forever.
  void answer_all_and_keep_memory(const error& why);
  /// Accepts requests again after `answer_all`.
  void reset();

 private:
  void sort_requests(const open_requests& open, fault_record& record, completion::lock& answers);
  void mark_overwritten(const open_requests& open, const error& cause, device_memory::marking& marks);
  request_fate fate_of(std::uint32_t slot, std::uint64_t ticket, const fault_record& death,
                       device_memory::marking& marks);
  std::optional<error> missing_input(const ledger_entry& e, device_memory::marking& marks);
  void keep(std::uint32_t slot, std::uint64_t ticket, device_memory::marking& marks);
  bool slot_words_are_valid(const open_requests& open) const noexcept;

  device_board& board_;
  completion& completion_;
  start_deadlines& start_deadlines_;
  worker_pool& workers_;
  shared_segments& segments_;
  fault_reporter& faults_;
  std::uint32_t kept_ = 0;         // number of requests on the mailbox's list for the next worker
  std::uint64_t next_ticket_ = 1;  // the first ticket that the next worker reads from the queue
};

}  // namespace troupe

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <troupe/device/completion/open_requests.hpp>
#include <troupe/device/fault.hpp>

namespace troupe {

class completion;
class quarantine_guard;
struct device_board;

/// The maximum number of requests that a fault_record lists.
inline constexpr std::size_t most_listed_requests = 64;

/// Analyzes a worker's death: what is known about it, and which request caused it. Reports it to the watches.
class fault_reporter {
 public:
  fault_reporter(device_board& board, completion& completion, quarantine_guard& quarantine) noexcept;
  /// Sets the beginning of the paths of GPU core files; empty if none are written.
  void set_gpu_core_stem(std::string stem) { gpu_core_stem_ = std::move(stem); }

  /// Starts the record of a fault. Must be called under the drive lock, before any request is sorted out.
  std::shared_ptr<fault_record> analyse(const device_supervisor::action& death, const open_requests& open);
  /// Completes the record and makes it the last fault. Must be called under the drive lock, for which `last` waits, so
  /// that a thread that has an answer finds the record.
  void complete(const std::shared_ptr<fault_record>& record);
  /// Sends the events and writes the black box. Must be called after `complete`, without the drive lock.
  void publish(const std::shared_ptr<fault_record>& record);
  std::shared_ptr<const fault_record> last() const;

  std::uint64_t count() const noexcept { return faults_.load(); }

 private:
  std::string gpu_core_of(int worker) const;
  std::optional<std::uint32_t> find_culprit(const open_requests& open, fault_record& record) const;
  void note_recent(fault_record& record) const;

  device_board& board_;
  completion& completion_;
  quarantine_guard& quarantine_;
  std::string gpu_core_stem_;
  std::int64_t seen_ns_ = 0;  // when the last fault was detected; used only on the control loop
  std::atomic<std::uint64_t> faults_{0};
};

}  // namespace troupe

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <troupe/device/completion/open_requests.hpp>
#include <troupe/device/recovery/standstill.hpp>
#include <troupe/device/recovery/supervision.hpp>
#include <troupe/device/waiting/earliest_timer.hpp>

namespace troupe {

class completion;
class running_requests;
class worker_pool;
struct device_board;

/// Detects requests that run for too long, and a worker that gives no sign of life. An idle device has no timer: the
/// first request that needs one sets it, and it is not set again when there is nothing to check.
class watchdog final : public control_loop::handler {
 public:
  watchdog(device_board& board, completion& completion, worker_pool& workers, supervision& supervisor) noexcept;

  // Must be called after the request was published. Any thread.
  void watch_running(std::int64_t limit_ns);
  void watch_heartbeat();
  bool watches_heartbeat() const noexcept { return heartbeat_watched_.load(std::memory_order_relaxed); }

  void on_readable(int) override {}
  void on_time(std::uint64_t tag) override;

 private:
  enum timer : std::uint64_t { running, heartbeat };
  enum class pace { fine, long_running, overdue };
  void check_running();
  pace pace_of(std::uint32_t slot, std::int64_t now, std::int64_t frozen, const running_requests& running,
               std::int64_t& again);
  bool asks_standbys() const noexcept;
  bool may_be_the_gpu(std::optional<std::uint32_t> overdue, std::int64_t now);
  void give_time(ledger_entry& e, std::int64_t now) const noexcept;
  void blame(std::uint32_t slot);
  error overrun_error(std::uint32_t slot) const;
  std::string gpu_meanwhile() const;
  void check_heartbeat();

  device_board& board_;
  completion& completion_;
  worker_pool& workers_;
  supervision& supervisor_;
  earliest_timer running_timer_, heartbeat_timer_;
  standstill standstill_;
  standstill::answer answer_ = standstill::answer::unknown;
  std::atomic<bool> heartbeat_watched_{false};
};

}  // namespace troupe

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <troupe/device/core/core.hpp>
#include <troupe/device/device.hpp>
#include <vector>

#include <tests/simulation/clients/client_request.hpp>
#include <tests/simulation/workers/simulated_link.hpp>
#include <tests/simulation/workers/simulated_loop.hpp>
#include "run_state.hpp"

namespace troupe::simulation {

/// The device of a run, its control loop and all workers that it has ever had.
class device_under_test {
 public:
  using block_in_call = std::function<void(pending_core& answer, const std::function<bool()>& ready)>;
  /// The device calls `block` instead of sleeping in a client's call.
  device_under_test(run_state& run, scene& where, block_in_call block);

  device& handle() noexcept { return *handle_; }
  device_core& core() const noexcept { return *core_; }
  simulated_loop& loop() const noexcept { return *loop_; }
  const std::vector<std::shared_ptr<simulated_worker>>& workers() const noexcept { return workers_; }

  std::int64_t now() const noexcept { return loop_->time; }
  device_state state() const noexcept { return core_->events.state(); }
  bool gave_up() const noexcept { return state() == device_state::stopped; }
  /// The generation of its memory: a worker's death begins the next one.
  std::uint64_t generation() const { return core_->memory.generation(); }
  /// Returns true if a worker could not be killed: the device may then stop at any time.
  bool had_unkillable_worker() const;
  /// Returns how many workers there have been whose end can be a fault.
  std::size_t workers_without_lack() const;
  /// Returns true if the request must be answered at once when it is cancelled: no worker runs it, and none can have
  /// damaged its state. A fence waits for the downloads before it.
  bool cancels_at_once(const client_request& q) const;

  /// The worker whose channel the device reads; null before the first.
  simulated_worker* current_worker() const noexcept { return current_; }
  void set_current_worker(simulated_worker& w) noexcept { current_ = &w; }
  bool is_current_dishonest() const noexcept { return current_ != nullptr && current_->dishonest; }

  pending<void> close(bool now);
  bool closing() const noexcept { return closing_; }
  bool closing_now() const noexcept { return closing_now_; }

  /// Drops the handle. The returned pointer expires once nothing else holds the device.
  std::weak_ptr<device_core> drop_handle();
  void drop_workers() { workers_.clear(); }

 private:
  result<std::unique_ptr<worker_link>> make_worker(std::uint32_t id, enum isolation how, std::uint64_t channel_bytes);

  run_state& run_;
  scene& scene_;
  const std::shared_ptr<simulated_loop> loop_ = std::make_shared<simulated_loop>();
  std::vector<std::shared_ptr<simulated_worker>> workers_;
  simulated_worker* current_ = nullptr;
  std::shared_ptr<device_core> core_;
  std::optional<device> handle_;
  bool closing_ = false, closing_now_ = false;
};

}  // namespace troupe::simulation

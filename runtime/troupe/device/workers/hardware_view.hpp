// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <string>
#include <troupe/device/mailbox/shared_channel.hpp>
#include <troupe/device/options.hpp>
#include <troupe/device/statistics.hpp>
#include <troupe/device/workers/serving_worker.hpp>
#include <troupe/memory/device_memory.hpp>
#include <troupe/protocol/worker_description.hpp>
#include <vector>

namespace troupe {

class device_events;
class worker_pool;

/// What is known of the hardware, of the engines and of the worker's lanes. Any thread.
class hardware_view {
 public:
  hardware_view(const device_options& options, const shared_channel& channel, device_memory& memory,
                const serving_worker& worker, worker_pool& workers, const device_events& events, bool gpu) noexcept;

  /// What a worker said when it was ready: first what the device is, where it is not the host, and an empty line; then
  /// its engines.
  void note(const std::string& said);
  /// Empty until a worker was ready.
  std::vector<engine_info> engines() const;

  device_hardware hardware();
  std::vector<lane_statistics> lanes() const;
  int cores() const noexcept { return cores_; }

 private:
  std::string description() const;
  std::uint64_t ask_for_free_bytes(std::int64_t now);

  const device_options& options_;
  const shared_channel& channel_;
  device_memory& memory_;
  const serving_worker& worker_;
  worker_pool& workers_;
  const device_events& events_;
  const bool gpu_;
  const int cores_;
  mutable std::mutex said_lock_;
  protocol::worker_description said_;
  std::mutex lock_;
  device_hardware hardware_;        // as it was seen last
  std::string described_;           // what of it is made from
  std::int64_t look_again_ns_ = 0;  // at the link, and at how much memory is free
};

}  // namespace troupe

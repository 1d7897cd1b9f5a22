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

/// The known facts about the hardware, the engines and the worker's lanes, for statistics. Thread-safe.
class hardware_view {
 public:
  hardware_view(const device_options& options, const shared_channel& channel, device_memory& memory,
                const serving_worker& worker, worker_pool& workers, const device_events& events, bool gpu) noexcept;

  /// Takes the worker's description from the message `ready`: for a device other than the host its hardware and an
  /// empty line, then its engines.
  void note(const std::string& said);
  /// Returns the worker's engines; empty until a worker has become ready.
  std::vector<engine_info> engines() const;

  device_hardware hardware();
  std::vector<lane_statistics> lanes() const;
  int cores() const noexcept { return cores_; }

 private:
  std::string gpu_text() const;
  std::uint64_t ask_for_free_bytes(std::int64_t now);

  const device_options& options_;
  const shared_channel& channel_;
  device_memory& memory_;
  const serving_worker& worker_;
  worker_pool& workers_;
  const device_events& events_;
  const bool gpu_;
  const int cores_;
  mutable std::mutex description_lock_;
  protocol::worker_description description_;
  std::mutex lock_;
  device_hardware hardware_;        // as last seen
  std::string parsed_text_;         // the description that hardware_ was parsed from
  std::int64_t refresh_at_ns_ = 0;  // when to read the link and the free memory again
  // The worker that has not answered a question, and how many it had answered before; 0: none.
  std::uint32_t asked_worker_ = 0, answered_before_ = 0;
};

}  // namespace troupe

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <string>
#include <troupe/device/statistics.hpp>
#include <troupe/protocol/descriptions/worker_description.hpp>
#include <vector>

namespace troupe {

class worker_pool;
struct device_board;

/// What is known about the hardware, the engines and the worker's lanes, for statistics. Thread-safe.
class hardware_view {
 public:
  hardware_view(device_board& board, worker_pool& workers) noexcept;

  /// Reads the worker's description from the message `ready`: the hardware and an empty line, except for the host's,
  /// then the engines.
  void note(const std::string& said);
  /// Returns the worker's engines; empty until a worker has become ready.
  std::vector<engine_info> engines() const;

  device_hardware hardware();
  std::vector<lane_statistics> lanes() const;
  int cores() const noexcept { return cores_; }

 private:
  std::string gpu_text() const;
  std::uint64_t ask_for_free_bytes(std::int64_t now);

  device_board& board_;
  worker_pool& workers_;
  const int cores_;
  mutable std::mutex description_lock_;
  protocol::worker_description description_;
  std::mutex lock_;
  device_hardware hardware_;        // as it was last reported
  std::string parsed_text_;         // the description that hardware_ was parsed from
  std::int64_t refresh_at_ns_ = 0;  // time at which to read the link and the free memory again
  // The worker that has not answered a question, and the number of its earlier answers; 0: there is none.
  std::uint32_t asked_worker_ = 0, answered_before_ = 0;
};

}  // namespace troupe

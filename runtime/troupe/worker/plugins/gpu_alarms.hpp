// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <troupe/base/result.hpp>

namespace troupe {

/// A report of the driver that a program has caused an error on a GPU.
struct gpu_alarm {
  std::uint32_t xid = 0;      ///< NVIDIA's number of the error; protocol::xid_text explains it
  std::uint32_t process = 0;  ///< the process that caused the error; 0: unknown
  std::string details;        ///< the driver's text
};

/// A source of a GPU's alarms. Not thread-safe.
class alarm_source {
 public:
  virtual ~alarm_source() = default;
  /// Returns the next alarm; nullopt if none arrives within `at_most`. Fails if no alarm can arrive any more.
  virtual result<std::optional<gpu_alarm>> wait(std::chrono::milliseconds at_most) = 0;
};

/// Listens to a GPU's alarms: reads the kernel's log, which names processes, or otherwise asks NVML. `pci` is the GPU's
/// address on the bus. Fails with `unsupported` and the reason if neither is possible.
result<std::unique_ptr<alarm_source>> listen_to_gpu(const std::string& pci);
/// Listens by NVML, the monitoring library of NVIDIA's driver, if it can be loaded: from the path in the environment
/// variable TROUPE_NVML, or as libnvidia-ml.so.1. NVML names no process.
result<std::unique_ptr<alarm_source>> listen_by_nvml(const std::string& pci);

}  // namespace troupe

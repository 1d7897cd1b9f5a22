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

/// A driver's report that some program has broken something on a GPU.
struct gpu_alarm {
  std::uint32_t xid = 0;      ///< see protocol::xid_text
  std::uint32_t process = 0;  ///< the process that caused the error; 0: unknown
  std::string details;        ///< in the driver's words
};

/// The alarms of a GPU. For one thread.
class alarm_source {
 public:
  virtual ~alarm_source() = default;
  /// Returns the next alarm, or nothing if there is none in this time. Fails if none can arrive any more.
  virtual result<std::optional<gpu_alarm>> wait(std::chrono::milliseconds at_most) = 0;
};

/// Listens to a GPU: reads the kernel's log, which names processes, or else asks NVML. `pci` is the GPU's address on
/// the bus. Fails with `unsupported` if neither is possible, and says why.
result<std::unique_ptr<alarm_source>> listen_to_gpu(const std::string& pci);
/// Listens by NVML, the library of NVIDIA's driver for monitoring, which is loaded if it is there: the library that the
/// environment variable TROUPE_NVML names, or libnvidia-ml.so.1. It names no process.
result<std::unique_ptr<alarm_source>> listen_by_nvml(const std::string& pci);

}  // namespace troupe

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

/// A driver's report that some program, of whatever process, has broken something on a GPU.
struct gpu_alarm {
  std::uint32_t xid = 0;  ///< see protocol::xid_text
};

/// The alarms of a GPU. For one thread.
class alarm_source {
 public:
  virtual ~alarm_source() = default;
  /// Returns the next alarm, or nothing if there is none in this time. Fails if it will never hear of one again.
  virtual result<std::optional<gpu_alarm>> wait(std::chrono::milliseconds at_most) = 0;
};

/// Listens to a GPU by NVML, the library of NVIDIA's driver for monitoring, which is loaded if it is there: the library
/// that the environment variable TROUPE_NVML names, or libnvidia-ml.so.1. `pci` is the GPU's address on the bus. Fails
/// with `unsupported` if that is not possible, and says why.
result<std::unique_ptr<alarm_source>> listen_to_gpu(const std::string& pci);

}  // namespace troupe

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <troupe/worker/plugins/gpu_alarms.hpp>

namespace troupe {

/// Reads the alarms of a GPU from the kernel's log, in which NVIDIA's driver names the process of a channel as well:
/// /dev/kmsg, or the file in the environment variable TROUPE_KERNEL_LOG. `pci` is the GPU's address on the bus. Fails
/// with `unsupported` and the reason if the log cannot be read, or if its process numbers are not those of this
/// process's namespace, as in a container.
result<std::unique_ptr<alarm_source>> read_kernel_log(const std::string& pci);

/// Returns the alarm in a line of the log, if it is about the GPU at this address. A line about a multiprocessor is no
/// alarm: another line follows that names the process.
std::optional<gpu_alarm> alarm_in(std::string_view line, const std::string& pci);

}  // namespace troupe

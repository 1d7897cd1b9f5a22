// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <troupe/worker/plugins/gpu_alarms.hpp>

namespace troupe {

/// Reads the alarms of a GPU from the kernel's log, where NVIDIA's driver names the process of a channel as well:
/// /dev/kmsg, or the file that the environment variable TROUPE_KERNEL_LOG names. `pci` is the GPU's address on the bus.
/// Fails with `unsupported`, and says why, if the log cannot be read, or its numbers of processes are not those that
/// this process sees, as in a container.
result<std::unique_ptr<alarm_source>> read_kernel_log(const std::string& pci);

/// Returns the alarm that a line of the log is, if it is one of the GPU at this address. A line about a multiprocessor
/// is none: another one follows that says whose it is.
std::optional<gpu_alarm> alarm_in(std::string_view line, const std::string& pci);

}  // namespace troupe

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace troupe {

/// The importance of a message.
enum class log_level : std::uint8_t {
  info,     ///< normal operation: a worker serves, a device closes
  warning,  ///< the device continues: a worker has died, a request is quarantined, a record could not be written
  error,    ///< the device has stopped because of this error
};

/// Receives the log messages of a runtime. Each device calls it from one thread at a time, in the order of the device's
/// events. It may block: that delays only the continuations of that device. `text` names the device.
using log_sink = std::function<void(log_level level, std::string_view text)>;

}  // namespace troupe

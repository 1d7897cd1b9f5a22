// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <troupe/base/enumeration.hpp>

namespace troupe {

/// The state of a device.
enum class device_state : std::uint8_t {
  starting,    ///< the first worker is starting; requests are queued
  ready,       ///< requests are served
  recovering,  ///< a worker has died and another is taking over; requests are queued
  closing,     ///< new requests are refused; queued ones are served
  stopped,     ///< no requests are served
};
TROUPE_ENUM(device_state, starting, ready, recovering, closing, stopped)

}  // namespace troupe

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace troupe {

/// What a device does at this moment.
enum class device_state : std::uint8_t {
  starting,    ///< the first worker is being made; requests queue up
  ready,       ///< requests are served
  recovering,  ///< a worker has died, another one takes over; requests queue up
  closing,     ///< no new requests; what is queued is being served
  stopped,     ///< nothing is served any more
};

std::string_view to_string(device_state s) noexcept;

}  // namespace troupe

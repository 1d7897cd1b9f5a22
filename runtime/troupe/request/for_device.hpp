// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <type_traits>

/// Declarations for functions that send requests of a library, whose headers do not include that of the device.
namespace troupe {

class device;
struct call_options;

/// call_options, once the device is known: a default argument of this type needs no definition before.
template <std::same_as<device> Device>
using call_options_of = std::conditional_t<std::same_as<Device, device>, call_options, void>;

}  // namespace troupe

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <type_traits>

/// Declarations for headers of libraries whose functions send requests, so that these need not include that of the
/// device.
namespace troupe {

class device;
struct call_options;

/// call_options, but looked up only when the device's type is known: a default argument of this type compiles before
/// call_options is defined.
template <std::same_as<device> Device>
using call_options_of = std::conditional_t<std::same_as<Device, device>, call_options, void>;

}  // namespace troupe

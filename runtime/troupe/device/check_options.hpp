// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <troupe/base/error.hpp>
#include <troupe/device/options.hpp>

namespace troupe {

/// What is wrong with the options; nothing, mostly.
std::optional<error> check(const device_options& o);

}  // namespace troupe

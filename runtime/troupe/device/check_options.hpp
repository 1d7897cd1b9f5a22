// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <troupe/base/error.hpp>
#include <troupe/device/options.hpp>

namespace troupe {

/// Returns the error of the first invalid option; nothing if all are valid.
std::optional<error> check(const device_options& o);

}  // namespace troupe

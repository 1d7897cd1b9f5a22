// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <troupe/base/error.hpp>
#include <troupe/device/options.hpp>

namespace troupe {

/// Returns the error of the first invalid option; nullopt if all are valid.
std::optional<error> check(const device_options& o);

/// Returns true if the folders that the options name have a platform plug-in of this backend: then the backend has
/// memory and addresses of its own, as a GPU has.
bool has_platform(const device_options& o, const std::string& backend);

}  // namespace troupe

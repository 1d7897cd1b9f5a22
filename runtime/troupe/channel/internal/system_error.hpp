// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <source_location>
#include <string>
#include <troupe/base/error.hpp>

namespace troupe {

/// Returns the error of a failed system call: `retry_later` if descriptors or memory are exhausted, otherwise `fatal`.
error channel_error(std::string call, int code, std::source_location at = std::source_location::current());

}  // namespace troupe

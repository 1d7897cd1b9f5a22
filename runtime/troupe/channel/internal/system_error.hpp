// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <source_location>
#include <string>
#include <troupe/base/error.hpp>

namespace troupe {

/// Returns the error of a failed system call: `retry_later` for too many descriptors or too little memory, which may
/// pass, and `fatal` for the rest.
error channel_error(std::string call, int code, std::source_location at = std::source_location::current());

}  // namespace troupe

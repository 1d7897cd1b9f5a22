// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <source_location>
#include <string>
#include <troupe/base/error.hpp>

namespace troupe {

/// A failed system call. Too many descriptors or too little memory may pass: `retry_later`; the rest is `fatal`.
error channel_error(std::string call, int code, std::source_location at = std::source_location::current());

}  // namespace troupe

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// For sources of this repository: not included by any installed header.
#pragma once

#include <string>
#include <string_view>
#include <troupe/base/error.hpp>

namespace troupe {

/// Returns the error of code that cannot read what other code of Troupe encoded: `what`, such as "jit.compile: the
/// recipe".
error damaged(std::string domain, std::string_view what);

}  // namespace troupe

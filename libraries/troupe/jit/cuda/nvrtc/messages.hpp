// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <troupe/jit/cuda/source_text.hpp>

namespace troupe::jit {

/// NVRTC's messages about a source, with the names of files and kernels that the user knows.
struct messages {
  std::string log;
  std::string first_error;       ///< with a remedy if one is known; empty if there is no error
  std::set<std::string> errors;  ///< all error texts
};

/// Rewrites NVRTC's messages. `pretended` is the folder in which NVRTC was told that the source is. `headers` is the
/// folder of our own headers, which users do not know.
messages messages_for_user(const source_text& source, std::string_view said, std::string_view pretended,
                           std::string_view headers);

}  // namespace troupe::jit

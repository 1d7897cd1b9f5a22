// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <troupe/jit/cuda/source_text.hpp>

namespace troupe::jit {

/// What NVRTC says of a source, in that source's words.
struct messages {
  std::string log;
  std::string first_error;       ///< with what to do, where that is known; empty: there is none
  std::set<std::string> errors;  ///< such texts of all of them
};

/// `pretended` is the folder that NVRTC was told the source is in; `headers` is that of our own, which no user has
/// named.
messages in_the_words_of(const source_text& source, std::string_view said, std::string_view pretended,
                         std::string_view headers);

}  // namespace troupe::jit

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <troupe/base/error.hpp>

namespace troupe {

/// Returns the reaction to a system call that failed with this errno code: `retry_later` if a resource is exhausted
/// that may become free, such as descriptors, memory or disk space. Any other failure would repeat.
constexpr reaction reaction_to_errno(int code) noexcept {
  switch (code) {
    case EAGAIN:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
    case ENOSPC:
      return reaction::retry_later;
    default:
      return reaction::fatal;
  }
}

/// Makes the error of a system call that has set `errno`, with the reaction of `reaction_to_errno`.
inline error error_of_errno(std::string domain, std::string call, int code = errno,
                            std::source_location at = std::source_location::current()) {
  return error::from_errno(reaction_to_errno(code), std::move(domain), std::move(call), code, at);
}

}  // namespace troupe

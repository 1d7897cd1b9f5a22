// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/channel/internal/system_error.hpp>

#include <cerrno>

namespace troupe {

error channel_error(std::string call, int code, std::source_location at) {
  const bool passes = code == EMFILE || code == ENFILE || code == ENOMEM || code == EAGAIN || code == ENOBUFS;
  return error::from_errno(passes ? reaction::retry_later : reaction::fatal, "channel", std::move(call), code, at);
}

}  // namespace troupe

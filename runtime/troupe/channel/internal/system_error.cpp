// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/linux/errno_reaction.hpp>
#include <troupe/channel/internal/system_error.hpp>

namespace troupe {

error channel_error(std::string call, int code, std::source_location at) {
  return error_of_errno("channel", std::move(call), code, at);
}

}  // namespace troupe

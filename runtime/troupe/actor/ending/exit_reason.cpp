// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/actor/ending/exit_reason.hpp>
#include <troupe/base/text/cat.hpp>

namespace troupe {

std::string exit_reason::to_string() const {
  std::string out = cat(actor, " #", id);
  switch (kind) {
    case exit_kind::normal:
      out += " stopped";
      break;
    case exit_kind::shutdown:
      out += " was shut down";
      break;
    case exit_kind::killed:
      out += " was killed";
      break;
    case exit_kind::crashed:
      out += " crashed";
      break;
  }
  if (cause) out += ": " + cause->to_string();
  return out;
}

}  // namespace troupe

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/actor/supervision/restart.hpp>

namespace troupe {

bool must_restart(restart type, exit_kind exit) noexcept {
  switch (type) {
    case restart::permanent:
      return true;
    case restart::transient:
      return exit == exit_kind::killed || exit == exit_kind::crashed;
    case restart::temporary:
      return false;
  }
  return false;
}

restart_plan plan_restart(strategy s, std::span<const child_state> children, std::size_t failed) {
  if (s == strategy::one_for_one) return {.start = {failed}};
  restart_plan plan;
  const std::size_t first = s == strategy::one_for_all ? 0 : failed;
  for (std::size_t i = children.size(); i-- > first;) {
    if (i != failed && children[i].running) plan.stop.push_back(i);
  }
  for (std::size_t i = first; i < children.size(); ++i) {
    // As in OTP, siblings that do not run, because they ended or were stopped by a command, are started too.
    const bool once = i != failed && children[i].type == restart::temporary;
    (once ? plan.forget : plan.start).push_back(i);
  }
  return plan;
}

}  // namespace troupe

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/channel/wait_policy.hpp>

namespace troupe {

std::string_view to_string(wait_policy policy) noexcept {
  switch (policy) {
    case wait_policy::latency:
      return "latency";
    case wait_policy::balanced:
      return "balanced";
    case wait_policy::efficient:
      return "efficient";
  }
  return "unknown";
}

adaptive_wait::adaptive_wait(wait_policy policy, int cores, work_by who) noexcept {
  if (cores < 2) return;
  switch (policy) {
    case wait_policy::latency:
      most_ns_ = least_ns_ = who == work_by::gpu ? 20'000'000 : 500'000;
      break;
    case wait_policy::balanced:
      most_ns_ = 20'000, least_ns_ = 1'250;
      break;
    case wait_policy::efficient:
      break;
  }
  budget_ns_ = most_ns_;
}

}  // namespace troupe

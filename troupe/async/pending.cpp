// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/async/pending.hpp>

namespace troupe::detail {

std::int64_t deadline_in(double seconds) noexcept {
  if (seconds <= 0) return 0;
  const double nanoseconds = seconds * 1e9;
  const std::int64_t now = now_ns();
  return nanoseconds < static_cast<double>(no_deadline - now) ? now + static_cast<std::int64_t>(nanoseconds)
                                                              : no_deadline;
}

}  // namespace troupe::detail

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <poll.h>
#include <time.h>
#include <troupe/base/clock.hpp>
#include <troupe/base/linux/futex.hpp>
#include <troupe/channel/internal/poll_until.hpp>
#include <troupe/channel/internal/system_error.hpp>

#include <algorithm>
#include <cerrno>

namespace troupe {

result<bool> poll_until(int fd, short events, std::int64_t deadline_ns) {
  for (;;) {
    pollfd entry{.fd = fd, .events = events, .revents = 0};
    timespec timeout{};
    if (deadline_ns != no_deadline) {
      const std::int64_t left = std::max<std::int64_t>(0, deadline_ns - now_ns());
      timeout = {.tv_sec = left / 1'000'000'000, .tv_nsec = left % 1'000'000'000};
    }
    const int ready = ::ppoll(&entry, 1, deadline_ns == no_deadline ? nullptr : &timeout, nullptr);
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return channel_error("poll", errno);
    if (entry.revents & POLLNVAL) return channel_error("poll", EBADF);
    return ready > 0;
  }
}

}  // namespace troupe

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <time.h>
#include <unistd.h>
#include <troupe/base/linux/write_all.hpp>

#include <cerrno>

namespace troupe {
namespace {

// Blocks SIGXFSZ. Linux sends that signal to a thread whose write or resize exceeds the limit on file sizes, and it
// would end the process.
class without_size_signal {
 public:
  [[nodiscard]] without_size_signal() noexcept {
    ::sigemptyset(&size_);
    ::sigaddset(&size_, SIGXFSZ);
    ::pthread_sigmask(SIG_BLOCK, &size_, &before_);
  }
  without_size_signal(const without_size_signal&) = delete;
  without_size_signal& operator=(const without_size_signal&) = delete;
  ~without_size_signal() {
    const int why = errno;
    constexpr timespec now{};
    if (::sigismember(&before_, SIGXFSZ) == 0) ::sigtimedwait(&size_, nullptr, &now);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = why;
  }

 private:
  sigset_t size_, before_;
};

}  // namespace

bool write_all(int fd, std::string_view bytes) {
  const without_size_signal guard;
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

bool resize_file(int fd, std::uint64_t bytes) {
  const without_size_signal guard;
  return ::ftruncate(fd, static_cast<off_t>(bytes)) == 0;
}

std::string_view hint_of_size_limit(int code) noexcept {
  if (code != EFBIG) return {};
  return "; the limit on file sizes applies to files in memory too: raise it (ulimit -f, LimitFSIZE= of systemd)";
}

}  // namespace troupe

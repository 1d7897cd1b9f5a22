// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <troupe/base/file_descriptor.hpp>
#include <troupe/base/write_all.hpp>
#include <troupe/worker/process/confinement.hpp>

#include <cerrno>

namespace troupe {

// When memory is short, the kernel kills the process with the highest score: this one, which is replaced, and not the
// application. Without /proc, the kernel's own choice stays.
static void be_killed_first() {
  const file_descriptor score(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  if (score) (void)write_all(score.get(), "1000");
}

result<void> confine(const protocol::worker_settings& s) {
  const auto failed = [](const char* call) { return error::from_errno(reaction::fatal, "worker", call, errno); };
  be_killed_first();
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return failed("prctl(PR_SET_NO_NEW_PRIVS)");
  const auto limit = [](auto what, std::uint64_t bytes) {
    rlimit now{};
    if (::getrlimit(what, &now) != 0) return false;
    now.rlim_cur = now.rlim_max = std::min<rlim_t>(bytes, now.rlim_max);
    return ::setrlimit(what, &now) == 0;
  };
  if (!s.core_dumps && !limit(RLIMIT_CORE, 0)) return failed("setrlimit(RLIMIT_CORE)");
  if (s.memory_limit != 0 && !limit(RLIMIT_DATA, s.memory_limit)) return failed("setrlimit(RLIMIT_DATA)");
  if (!s.cores.empty() && ::syscall(SYS_sched_setaffinity, 0, sizeof s.cores.bits, s.cores.bits) < 0)
    return error::from_errno(reaction::caller_bug, "worker",
                             "device_options::worker_cores names no core that this process may run on", errno);
  return {};
}

}  // namespace troupe

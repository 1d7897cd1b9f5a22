// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <troupe/base/linux/file_descriptor.hpp>
#include <troupe/base/linux/write_all.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/channel/process/process_launcher.hpp>
#include <troupe/worker/process/call_filter.hpp>
#include <troupe/worker/process/confined_files.hpp>
#include <troupe/worker/process/confinement.hpp>

#include <algorithm>
#include <array>
#include <cerrno>

namespace troupe {
namespace {

// Raises the score of this process: when memory is short, Linux kills the process with the highest score. This process
// is replaced; the application would not be. Without /proc, Linux's own choice stays.
void be_killed_first() {
  const file_descriptor score(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  if (score) (void)write_all(score.get(), "1000");
}

bool limit(__rlimit_resource_t what, std::uint64_t most) {
  rlimit now{};
  if (::getrlimit(what, &now) != 0) return false;
  now.rlim_cur = now.rlim_max = std::min<rlim_t>(most, now.rlim_max);
  return ::setrlimit(what, &now) == 0;
}

// Returns the number of descriptors that a worker on the host may have: enough for any engine. With many, it could use
// up the user's watches of files (epoll), and its end would take long. A third of the application's limit, because a
// worker can keep as many in flight, in messages that nobody reads, and that limit is for all processes of the user.
std::uint64_t most_descriptors() {
  rlimit now{};
  if (::getrlimit(RLIMIT_NOFILE, &now) != 0) return 128;
  return std::clamp<rlim_t>(now.rlim_cur / 3, 128, 1024);
}

result<void> limit_resources(const protocol::worker_settings& s) {
  const auto failed = [](const char* call) { return error::from_errno(reaction::fatal, "worker", call, errno); };
  be_killed_first();
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return failed("prctl(PR_SET_NO_NEW_PRIVS)");
  if (!s.core_dumps && !limit(RLIMIT_CORE, 0)) return failed("setrlimit(RLIMIT_CORE)");
  if (s.memory_limit != 0 && !limit(RLIMIT_DATA, s.memory_limit)) return failed("setrlimit(RLIMIT_DATA)");
  if (!s.cores.empty() && ::syscall(SYS_sched_setaffinity, 0, sizeof s.cores.bits, s.cores.bits) < 0)
    return error::from_errno(reaction::caller_bug, "worker",
                             "device_options::worker_cores names no core that this process may run on", errno);
  return {};
}

// Gives up what root may do beyond other users, except with files: without this, a worker of root could take the
// processors by real-time priority. Fails only for a process without capabilities, which has nothing to give up.
void drop_capabilities() {
  constexpr auto bit = [](int capability) { return std::uint32_t{1} << capability; };
  constexpr std::uint32_t kept =
      bit(CAP_CHOWN) | bit(CAP_DAC_OVERRIDE) | bit(CAP_DAC_READ_SEARCH) | bit(CAP_FOWNER) | bit(CAP_FSETID);
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets{};
  if (::syscall(SYS_capget, &header, sets.data()) != 0) return;
  for (__user_cap_data_struct& s : sets) {
    const std::uint32_t mask = &s == sets.data() ? kept : 0;
    s.effective &= mask, s.permitted &= mask, s.inheritable &= mask;
  }
  (void)::syscall(SYS_capset, &header, sets.data());
}

// Confines a worker with a GPU. Its files are not confined, because the driver's are unknown, nor what the driver may
// do: it starts programs and opens sockets.
result<std::string> confine_with_driver(const confinement_support& here) {
  if (here.landlock >= landlock_with_scopes) TROUPE_TRY(confine_signals());
  if (here.filters) TROUPE_TRY(filter_calls(call_filter::driver));
  if (here.landlock >= landlock_with_scopes && here.filters) return std::string();
  return cat("the worker is not fully confined: this system has ", here.filters ? "" : "no filters of system calls",
             here.filters || here.landlock >= landlock_with_scopes ? "" : " and ",
             here.landlock >= landlock_with_scopes ? "" : "no Landlock that confines signals (Linux 6.12)");
}

// Forks the launcher before the worker is confined. It is confined like the compilers that it starts.
result<void> make_launcher(const protocol::greeting& g, const confinement_support& here, const file_rules& files) {
  if (!g.settings.compile || !here.filters) return {};
  return fork_launcher([&] {
    const bool files_are = here.landlock == 0 || confine_files(files),
               calls_are = !!filter_calls(call_filter::launcher);
    if (g.settings.confinement == confinement::strict && !(files_are && calls_are)) ::_exit(1);
  });
}

}  // namespace

confinement_support confinement_support::of_this_system() noexcept {
  return {.landlock = landlock_version(), .filters = can_filter_calls()};
}

std::string confinement_support::lacks() const {
  if (landlock == 0 && !filters) return "no Landlock (Linux 5.13) and no filters of system calls";
  if (landlock == 0) return "no Landlock (Linux 5.13), so files are not confined";
  if (!filters) return "no filters of system calls (seccomp), so processes and sockets are not confined";
  return {};
}

result<std::string> confine(const protocol::greeting& g, std::span<const opened_plug_in> opened) {
  TROUPE_TRY(limit_resources(g.settings));
  if (g.settings.confinement == confinement::off) return std::string();
  const auto here = confinement_support::of_this_system();
  if (g.settings.gpu) return confine_with_driver(here);
  drop_capabilities();
  if (!limit(RLIMIT_NOFILE, most_descriptors()))
    return error::from_errno(reaction::fatal, "worker", "setrlimit(RLIMIT_NOFILE)", errno);
  std::string lacks = here.lacks();
  const bool strict = g.settings.confinement == confinement::strict;
  if (strict && !lacks.empty())
    return error(
        reaction::unsupported, "worker",
        cat("device_options::confinement is strict, which needs Landlock (Linux 5.13) and filters of system calls "
            "(seccomp); this system or container has ",
            lacks, ": enable what is missing (a seccomp profile may forbid it), or use confinement::standard"));
  const file_rules standard = standard_files(g);
  TROUPE_TRY(make_launcher(g, here, standard));
  const auto must_if_strict = [&](const result<void>& done) -> result<void> {
    if (done || strict) return done;
    lacks += (lacks.empty() ? "" : "; ") + done.error().text();
    return {};
  };
  file_rules files = strict ? strict_files(g) : standard;
  for (const opened_plug_in& o : opened) files.opened.push_back(o.file.get());
  if (here.landlock != 0) TROUPE_TRY(must_if_strict(confine_files(files)));
  if (here.filters) TROUPE_TRY(must_if_strict(filter_calls(strict ? call_filter::strict : call_filter::worker)));
  return lacks.empty() ? std::string() : cat("the worker is not fully confined: it has ", lacks);
}

}  // namespace troupe

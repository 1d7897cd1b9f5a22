// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>
#include <troupe/base/clock.hpp>
#include <troupe/base/linux/errno_reaction.hpp>
#include <troupe/base/linux/file_descriptor.hpp>
#include <troupe/base/text/printable.hpp>
#include <troupe/base/try.hpp>
#include <troupe/channel/process/process.hpp>
#include <troupe/channel/process/process_launcher.hpp>
#include <troupe/jit/host/command.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <optional>

namespace troupe::jit {
namespace {

constexpr std::int64_t grace_ns = 5'000'000'000, a_day = 86400;

// Variables that change how a compiler works, such as CPATH, are not passed on, because they are not part of any key.
std::vector<std::string> environment_for(const std::string& folder) {
  std::vector<std::string> out{"LC_ALL=C", "TMPDIR=" + folder};
  for (const char* name : {"PATH", "HOME", "LD_LIBRARY_PATH"})
    if (const char* value = ::secure_getenv(name)) out.push_back(std::string(name) + "=" + value);
  if (launcher_pid() != 0) out.emplace_back("CCACHE_DISABLE=1");  // ccache is confined too, and cannot reach its folder
  return out;
}

// Reads the messages that are available now. Returns false at their end.
bool read_messages(int fd, std::size_t most, command_outcome& out) {
  std::array<char, 16 << 10> part;
  const ssize_t n = ::read(fd, part.data(), part.size());
  if (n < 0) return errno == EINTR || errno == EAGAIN;
  const std::size_t taken = std::min(static_cast<std::size_t>(n), most - out.messages.size());
  out.messages.append(part.data(), taken);
  out.cut_bytes += static_cast<std::size_t>(n) - taken;
  return n > 0;
}

bool wait_readable(int fd, const compile_deadline& how_long) {
  constexpr std::int64_t poll_ms = 20;
  pollfd p{.fd = fd, .events = POLLIN, .revents = 0};
  while (true) {
    const std::int64_t left = std::max<std::int64_t>(how_long.deadline_ns() - now_ns(), 0) / 1'000'000;
    if (::poll(&p, 1, static_cast<int>(std::min(left, poll_ms))) > 0) return true;
    if (how_long.over()) return false;
  }
}

// The compiler guard. It is started by this process, or by this process's launcher if the process is confined.
class guarded_program {
 public:
  static result<guarded_program> start(launch_options options) {
    guarded_program out;
    if (launcher_pid() != 0) {
      out.job_ = TROUPE_TRY(launch_by_launcher(options));
      return out;
    }
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return error_of_errno("jit", "pipe2");
    out.messages_ = file_descriptor(ends[0]);
    const file_descriptor theirs(ends[1]);
    options.stderr_fd = theirs.get();
    out.child_.emplace(TROUPE_TRY(process::launch(options)));
    return out;
  }

  static int parent() {
    const int launcher = launcher_pid();
    return launcher != 0 ? launcher : ::getpid();
  }

  int messages() const noexcept { return job_ ? job_->messages.get() : messages_.get(); }
  void stop() { job_ ? job_->stop() : static_cast<void>(child_->kill(SIGTERM)); }
  result<exit_status> wait(std::int64_t deadline_ns) {
    return job_ ? job_->wait(deadline_ns) : child_->wait(deadline_ns);
  }

 private:
  file_descriptor messages_;
  std::optional<process> child_;
  std::optional<launcher_job> job_;
};

}  // namespace

result<command_outcome> run_command(const std::string& compiler_guard, const command& c) {
  const std::int64_t left = std::max<std::int64_t>(c.how_long.deadline_ns() - now_ns(), 0);
  // A second limit, in case the guard is killed.
  const std::int64_t cpu_seconds = std::min<std::int64_t>(left / 1'000'000'000 + 2, a_day);
  launch_options options{
      .path = compiler_guard,
      .args = {std::to_string(guarded_program::parent()), std::to_string(c.memory_bytes), std::to_string(cpu_seconds),
               std::to_string(c.file_bytes), c.folder, c.place, c.output},
      .environment = environment_for(c.folder)};
  options.args.insert(options.args.end(), c.line.begin(), c.line.end());
  auto program = TROUPE_TRY(guarded_program::start(std::move(options)));

  command_outcome out;
  compile_deadline how_long = c.how_long;
  while (true) {
    if (wait_readable(program.messages(), how_long)) {
      if (!read_messages(program.messages(), c.message_bytes, out)) break;
    } else if (!out.was_stopped) {
      out.was_stopped = true;
      program.stop();  // the guard kills all descendants
      how_long = compile_deadline(now_ns() + grace_ns);
    } else {
      break;
    }
  }
  const auto end =
      program.wait(out.was_stopped ? how_long.deadline_ns() : std::max(now_ns() + grace_ns, c.how_long.deadline_ns()));
  if (!end) return end.error();
  out.exit_code = end->how == exit_status::ending::exited ? end->value : 128 + end->value;
  make_printable(out.messages);
  return out;
}

}  // namespace troupe::jit

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Attacks an application with hostile workers: see README.md beside it. Each strategy runs in a process of its own, so
// that a crash or a hang of the application is a result.
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <string>
#include <string_view>
#include <thread>

#include "trial.hpp"

namespace adversary {

static int own_output = STDOUT_FILENO;

void say(const std::string& text) { (void)!::write(own_output, text.data(), text.size()); }

namespace {

constexpr const char* help = R"(adversary [--group NAME | --strategy NAME] [--seconds N] [--seed N] [--list]
Attacks an application with two devices by workers that follow a strategy, and reports which promises broke.

  --seconds N   how long each strategy attacks; default 0.5
  --list        print all strategies, their groups and the promises that they attack
)";

struct choice {
  std::string group, strategy;
  double seconds = 0.5;
  std::uint64_t seed = 0;
  bool in_this_process = false, lists = false;
};

// A trial that exceeded only a time limit is repeated, because another program may have used the processor. If an
// attack causes the delay, it does so each time.
constexpr int most_tries = 3, was_late = 3;

int run_here(const strategy& s, const choice& c) {
  ::mallopt(M_ARENA_MAX, 2);  // so that the arenas of new threads do not look like leaked memory
  own_output = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  int ends[2];  // a pipe that nobody reads
  if (::pipe2(ends, O_CLOEXEC) != 0 || ::dup2(ends[1], STDOUT_FILENO) < 0 || ::dup2(ends[1], STDERR_FILENO) < 0)
    return std::perror("pipe"), 2;
  const outcome o = try_strategy(s, c.seconds, c.seed);
  char line[800];
  std::snprintf(line, sizeof line, "%s %-28s %s\n", o.held() ? "held " : "BROKE", s.name, o.figures.c_str());
  say(line);
  for (const auto* all : {&o.broken, &o.late})
    for (const std::string& text : *all) say(std::string("      ") + s.name + ": " + text + "\n");
  return !o.broken.empty() ? 1 : !o.late.empty() ? was_late : 0;
}

// Returns the status of the child, even if it is stopped or hangs.
int wait_for(pid_t child, double seconds, std::string& ended) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  int status = 0;
  while (std::chrono::steady_clock::now() < end) {
    if (::waitpid(child, &status, WNOHANG | WUNTRACED) == child) {
      if (WIFEXITED(status)) return WEXITSTATUS(status);
      ended = WIFSTOPPED(status) ? "was stopped" : "was killed by " + std::string(::strsignal(WTERMSIG(status)));
      if (!WIFSTOPPED(status)) return 1;
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  if (ended.empty()) ended = "hangs";
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
  return 1;
}

// The folder for temporary files of all trials. Trials may be killed before they remove their files.
class scratch_folder {
 public:
  scratch_folder() : name_((std::filesystem::temp_directory_path() / "troupe-adversary-XXXXXX").string()) {
    if (::mkdtemp(name_.data()) == nullptr || ::chmod(name_.c_str(), 01777) != 0) std::perror("mkdtemp"), std::exit(2);
    ::setenv("TMPDIR", name_.c_str(), 1);
  }
  ~scratch_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(name_, ignored);
  }
  scratch_folder(const scratch_folder&) = delete;

 private:
  std::string name_;
};

void become_user() {
  const rlimit usual{.rlim_cur = 1024, .rlim_max = 1024};
  ::setrlimit(RLIMIT_NOFILE, &usual);
  if (::getuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) ::_exit(2);
  ::setenv("TROUPE_CACHE", (std::filesystem::temp_directory_path() / "cache-of-user").c_str(), 1);
}

int run_in_child(const strategy& s, const choice& c) {
  const std::string seconds = std::to_string(c.seconds), seed = std::to_string(c.seed);
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    if (s.is_of_a_user) become_user();
    ::execl("/proc/self/exe", "adversary", "--strategy", s.name, "--seconds", seconds.c_str(), "--seed", seed.c_str(),
            "--here", nullptr);
    ::_exit(2);
  }
  std::string ended;
  const int code = wait_for(child, c.seconds * 2 + 45, ended);
  if (!ended.empty()) std::printf("BROKE %-28s the application %s\n", s.name, ended.c_str());
  return code;
}

int run(const choice& c) {
  const scratch_folder temporary;
  std::printf("seed %llu\n", static_cast<unsigned long long>(c.seed));
  int tried = 0;
  std::string broken;
  for (const strategy& s : all_strategies()) {
    if ((!c.group.empty() && c.group != s.group) || (!c.strategy.empty() && c.strategy != s.name)) continue;
    ++tried;
    int code = was_late;
    for (int i = 0; i < most_tries && code == was_late; ++i) code = run_in_child(s, c);
    if (code != 0) broken += std::string(" ") + s.name;
  }
  if (tried == 0) return std::fputs("no such group or strategy\n", stderr), 2;
  std::printf("%d strategies; broken:%s\n", tried, broken.empty() ? " none" : broken.c_str());
  return broken.empty() ? 0 : 1;
}

}  // namespace
}  // namespace adversary

int main(int argc, char** argv) {
  using namespace adversary;
  choice c;
  c.seed = std::random_device{}();
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const char* const value = i + 1 < argc ? argv[i + 1] : "";
    if (word == "--list" || word == "--here") {
      (word == "--list" ? c.lists : c.in_this_process) = true;
      continue;
    }
    if (word == "--group")
      c.group = value;
    else if (word == "--strategy")
      c.strategy = value;
    else if (word == "--seconds")
      c.seconds = std::strtod(value, nullptr);
    else if (word == "--seed")
      c.seed = std::strtoull(value, nullptr, 0);
    else
      return std::fputs(help, stderr), 2;
    ++i;
  }
  if (c.lists) {
    for (const strategy& s : all_strategies()) std::printf("%-12s %-32s %s\n", s.group, s.name, s.promise);
    return 0;
  }
  if (!c.in_this_process) return run(c);
  const strategy* const s = find_strategy(c.strategy);
  return s != nullptr ? run_here(*s, c) : 2;
}

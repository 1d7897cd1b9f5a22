// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Attacks on other processes: outliving the worker, stopping, sending signals, reading the parent's memory.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "strategy.hpp"

namespace adversary {
namespace {

using namespace troupe;

bool stop_itself(hostile_worker&) {
  ::raise(SIGSTOP);
  return false;
}
bool stop_and_continue(hostile_worker& w) {
  const pid_t worker = ::getpid();
  if (::fork() == 0) {
    while (w.stage->attacker.load() != stage_page::nobody && ::kill(worker, SIGSTOP) == 0) {
      pause(std::chrono::milliseconds(20));
      ::kill(worker, SIGCONT);
      pause(std::chrono::milliseconds(20));
    }
    ::_exit(0);
  }
  return false;
}
bool close_control_socket(hostile_worker& w) {
  if (w.must_attack()) ::shutdown(hostile_worker::control, SHUT_RDWR);
  return false;
}
bool exit_quietly(hostile_worker&) { ::_exit(0); }

// Forks a copy of the worker that outlives it.
template <class F>
bool leave_child(F&& act) {
  if (::fork() == 0) {
    act();
    ::_exit(0);
  }
  ::_exit(1);
}
bool leave_child_with_sockets(hostile_worker& w) {
  return leave_child([&w] {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(3);
    while (std::chrono::steady_clock::now() < end) {
      send_message(protocol::message::pong);
      send_packet(w.questions, random_bytes(w, 30));
      pause(std::chrono::milliseconds(1));
    }
  });
}
bool leave_silent_child(hostile_worker&) {
  return leave_child([] { std::this_thread::sleep_for(std::chrono::seconds(5)); });
}

// Sends a signal to the application, and to no other process even if the application has ended.
void signal_application(const hostile_worker& w, int signal) {
  if (::getppid() == w.stage->application.load()) ::kill(::getppid(), signal);
}
bool kill_application(hostile_worker& w) {
  signal_application(w, SIGKILL);
  return false;
}
bool stop_application(hostile_worker& w) {
  signal_application(w, SIGSTOP);
  return false;
}
bool read_application(hostile_worker& w) {
  const std::string folder = "/proc/" + std::to_string(w.stage->application.load());
  const int memory = ::open((folder + "/mem").c_str(), O_RDWR | O_CLOEXEC);
  std::ifstream maps(folder + "/maps");
  for (std::string line; memory >= 0 && std::getline(maps, line);) {
    unsigned long begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx rw-p", &begin, &end) != 2 || line.find("[heap]") == line.npos) continue;
    std::string bytes(end - begin, '\0');
    if (::pread(memory, bytes.data(), bytes.size(), static_cast<off_t>(begin)) <= 0) continue;
    const std::size_t at = bytes.find(std::string(bait_prefix) + ":");
    if (at == bytes.npos) continue;
    w.stage->secret.store(1);
    if (::pwrite(memory, "X", 1, static_cast<off_t>(begin + at)) == 1) w.succeed();
  }
  return false;
}
bool open_descriptors_of_application(hostile_worker& w) {
  const std::string folder = "/proc/" + std::to_string(w.stage->application.load()) + "/fd/";
  for (int fd = 3; w.must_attack() && fd < 64; ++fd)
    if (const int got = ::open((folder + std::to_string(fd)).c_str(), O_RDWR | O_CLOEXEC); got >= 0) {
      w.succeed();
      ::close(got);
    }
  return false;
}
bool lower_priority_of_application(hostile_worker& w) {
  if (::setpriority(PRIO_PROCESS, static_cast<id_t>(w.stage->application.load()), 19) == 0) w.succeed();
  return false;
}

// Processes would outlive the worker, sockets would lead out of the sandbox.
bool start_processes(hostile_worker& w) {
  if (const pid_t child = ::fork(); child == 0)
    ::_exit(0);
  else if (child > 0)
    w.succeed();
  char name[] = "/bin/true";
  char* arguments[] = {name, nullptr};
  pid_t child = 0;
  if (::posix_spawn(&child, name, nullptr, nullptr, arguments, nullptr) == 0) w.succeed();
  return false;
}
bool open_sockets(hostile_worker& w) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0) w.succeed();
  for (const int family : {AF_UNIX, AF_INET, AF_NETLINK})
    if (::socket(family, SOCK_DGRAM, 0) >= 0) w.succeed();
  return false;
}
// Programs that the launcher starts are confined less than the worker.
bool limit_application_by_launcher(hostile_worker& w) {
  int owner = 0, fd = -1, pid = 0;
  const char* const set = std::getenv("TROUPE_LAUNCHER");
  if (set == nullptr || std::sscanf(set, "%d %d %d", &owner, &fd, &pid) != 3) return w.withdraw(), false;
  std::string request;
  for (const std::string& part : {std::string("2"), std::string("/usr/bin/prlimit"),
                                  "--pid=" + std::to_string(w.stage->application.load()), std::string("--nofile=3:3")})
    request += part + '\0';
  send_packet(fd, std::as_bytes(std::span(request)));
  return false;
}
bool lower_priority_of_user(hostile_worker& w) {
  if (::setpriority(PRIO_USER, 0, 1) == 0) w.succeed();
  return false;
}
bool run_in_real_time(hostile_worker& w) {
  const sched_param real_time{.sched_priority = 50}, usual{};
  if (::sched_setscheduler(0, SCHED_FIFO, &real_time) == 0) w.succeed(), ::sched_setscheduler(0, SCHED_OTHER, &usual);
  return false;
}
// Looks at each of very many descriptors: the kernel keeps what was looked at until the process ends, and removes it
// then.
bool die_with_many_entries(hostile_worker& w) {
  rlimit most{};
  ::getrlimit(RLIMIT_NOFILE, &most);
  most.rlim_cur = most.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &most);
  int last = 0;
  for (int fd; w.must_attack() && last < 200'000 && (fd = ::dup(0)) >= 0;) last = fd;
  struct stat s{};
  const std::string task = "/proc/self/task/" + std::to_string(::getpid());
  for (int fd = 0; fd <= last; ++fd)
    for (const std::string& folder : {std::string("/proc/self"), task})
      for (const char* kind : {"/fd/", "/fdinfo/"}) (void)::lstat((folder + kind + std::to_string(fd)).c_str(), &s);
  ::_exit(0);
}

bool compute_without_end(hostile_worker& w) {
  for (volatile unsigned n = 0; w.must_attack();) n = n + 1;
  return false;
}
bool fork_without_end(hostile_worker& w) {
  for (int i = 0; w.must_attack() && i < 200; ++i)
    if (::fork() == 0) {
      for (int k = 0; k < 500 && w.stage->attacker.load() != stage_page::nobody; ++k)
        pause(std::chrono::milliseconds(10));
      ::_exit(0);
    }
  return false;
}

constexpr const char* silent = "a silent worker is replaced";
constexpr const char* outlived = "nothing of a dead worker goes on";
constexpr const char* confined = "a worker cannot harm the application";
constexpr const char* own = "one device's trouble stays its own";
constexpr strategy strategies[] = {
    {"stop_itself", "processes", silent, moment::serving, stop_itself, true},
    {"stop_and_continue", "processes", silent, moment::serving, stop_and_continue, true, false, false, false, true},
    {"close_control_socket", "processes", silent, moment::serving, close_control_socket, true},
    {"exit_quietly", "processes", silent, moment::serving, exit_quietly, true},
    {"leave_child_with_sockets", "processes", outlived, moment::serving, leave_child_with_sockets, true, false, false,
     false, true},
    {"leave_silent_child", "processes", outlived, moment::serving, leave_silent_child, true, false, false, false, true},
    {"die_with_many_entries", "processes", own, moment::serving, die_with_many_entries, true},
    {"kill_application", "confinement", confined, moment::serving, kill_application, true},
    {"stop_application", "confinement", confined, moment::serving, stop_application, true},
    {"read_application", "confinement", confined, moment::serving, read_application, true},
    {"open_descriptors_of_application", "confinement", confined, moment::serving, open_descriptors_of_application,
     true},
    {"lower_priority_of_application", "confinement", confined, moment::serving, lower_priority_of_application, true},
    {"lower_priority_of_user", "confinement", confined, moment::serving, lower_priority_of_user, true, false, false,
     true},
    {"run_in_real_time", "confinement", confined, moment::serving, run_in_real_time, true},
    {"start_processes", "confinement", confined, moment::serving, start_processes, true},
    {"open_sockets", "confinement", confined, moment::serving, open_sockets, true},
    {"limit_application_by_launcher", "confinement", confined, moment::serving, limit_application_by_launcher, true},
    {"compute_without_end", "processes", own, moment::serving, compute_without_end, true},
    {"fork_without_end", "processes", own, moment::serving, fork_without_end, true, false, false, false, true},
};

}  // namespace

std::span<const strategy> process_strategies() { return strategies; }

}  // namespace adversary

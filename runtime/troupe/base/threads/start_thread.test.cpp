// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>
#include <troupe/base/threads/start_thread.hpp>

namespace troupe {
namespace {

std::set<int> blocked_here() {
  sigset_t now;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &now);
  std::set<int> out;
  for (int s = 1; s <= SIGRTMAX; ++s)
    if (::sigismember(&now, s) == 1) out.insert(s);
  return out;
}

TEST(a_thread_of_the_library, blocks_all_signals_except_those_of_its_own_errors) {
  const std::set<int> before = blocked_here();
  std::set<int> inside;
  start_thread([&] { inside = blocked_here(); }).join();
  for (const int s : {SIGTERM, SIGINT, SIGUSR1, SIGUSR2, SIGCHLD, SIGALRM, SIGPIPE, SIGHUP, SIGRTMIN, SIGRTMAX})
    EXPECT_TRUE(inside.contains(s)) << s;
  for (const int s : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) EXPECT_FALSE(inside.contains(s)) << s;
  EXPECT_EQ(blocked_here(), before) << "the caller's signals have changed";
}

TEST(a_thread_of_the_library, leaves_the_callers_signal_mask_unchanged_if_it_cannot_be_started) {
  struct fails {
    fails() = default;
    fails(const fails&) { throw std::bad_alloc(); }
    void operator()() const {}
  };
  const std::set<int> before = blocked_here();
  const fails f;
  EXPECT_THROW(start_thread(f), std::bad_alloc);
  EXPECT_EQ(blocked_here(), before);
}

}  // namespace
}  // namespace troupe

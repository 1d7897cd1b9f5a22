// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/threads/start_thread.hpp>

namespace troupe::detail {

signals_blocked::signals_blocked() noexcept {
  sigset_t all;
  ::sigfillset(&all);
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) ::sigdelset(&all, own);
  ::pthread_sigmask(SIG_SETMASK, &all, &before_);
}

signals_blocked::~signals_blocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

}  // namespace troupe::detail

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <sys/syscall.h>
#include <unistd.h>
#include <algorithm>
#include <troupe/base/threads/helper_places.hpp>

namespace troupe {
namespace {

bool keep(pid_t thread, int processor) noexcept {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(processor, &one);
  return ::sched_setaffinity(thread, sizeof one, &one) == 0;
}

}  // namespace

void helper_places::place(std::span<const pid_t> helpers) {
  const int here = ::sched_getcpu();
  if (!is_decided_) return begin(helpers, here);
  if (of_caller_ < 0 || here == of_caller_) return;
  const auto at = std::find(of_helpers_.begin(), of_helpers_.end(), here);
  if (at == of_helpers_.end()) return;
  *at = of_caller_;
  of_caller_ = here;
  const pid_t helper = helpers[static_cast<std::size_t>(at - of_helpers_.begin())];
  // Ignored if it fails: the processor may have been taken from this process in the meantime.
  if (are_of_this_process({&helper, 1})) (void)keep(helper, *at);
}

void helper_places::begin(std::span<const pid_t> helpers, int here) {
  is_decided_ = true;
  cpu_set_t all;
  if (::sched_getaffinity(0, sizeof all, &all) != 0 || here < 0 || !CPU_ISSET(here, &all)) return;
  if (static_cast<std::size_t>(CPU_COUNT(&all)) != helpers.size() + 1) return;
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &all) && i != here) of_helpers_.push_back(i);
  of_caller_ = here;
  for (std::size_t i = 0; i < helpers.size(); ++i) (void)keep(helpers[i], of_helpers_[i]);
}

bool are_of_this_process(std::span<const pid_t> threads) noexcept {
  return std::all_of(threads.begin(), threads.end(),
                     [](pid_t id) { return ::syscall(SYS_tgkill, ::getpid(), id, 0) == 0; });
}

kept_in_place::kept_in_place() noexcept {
  const int here = ::sched_getcpu();
  is_kept_ = here >= 0 && ::sched_getaffinity(0, sizeof before_, &before_) == 0 && keep(0, here);
}

kept_in_place::~kept_in_place() {
  if (is_kept_) (void)::sched_setaffinity(0, sizeof before_, &before_);
}

}  // namespace troupe

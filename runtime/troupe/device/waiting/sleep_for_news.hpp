// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <troupe/base/clock.hpp>
#include <troupe/device/completion/completion.hpp>

namespace troupe {

/// In slices: a worker that has damaged the words must not make a wait endless.
inline constexpr std::int64_t longest_wait_ns = 1'000'000'000;

/// Sleeps until the worker has news, the deadline, or a wake without cause; `ready` is asked after announcing.
template <class Ready>
void sleep_for_news(shared_channel& channel, completion& answers, Ready&& ready, std::int64_t deadline_ns,
                    std::int64_t slice_ns = longest_wait_ns) noexcept {
  // Announce, remember the epoch, look once more, sleep. The worker publishes first and looks for sleepers second, so
  // one of the two sees the other; a wake in between changes the epoch.
  protocol::progress_page& page = channel->page();
  std::atomic<std::uint32_t>& sleepers = channel->application().sleepers;
  sleepers.fetch_add(1, std::memory_order_seq_cst);
  const std::uint32_t before = page.epoch.load(std::memory_order_seq_cst);
  answers.drive();
  if (!ready()) futex_wait(page.epoch, before, futex_scope::shared, std::min(deadline_ns, now_ns() + slice_ns));
  sleepers.fetch_sub(1, std::memory_order_seq_cst);
  // News since then were announced to us, whether we slept or not, and to nobody else.
  if (page.epoch.load(std::memory_order_seq_cst) != before) answers.drive();
}

}  // namespace troupe

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <troupe/async/answers/pending_core.hpp>
#include <troupe/base/clock.hpp>
#include <troupe/channel/vain_wakes.hpp>
#include <troupe/device/completion/completion.hpp>

namespace troupe {

/// The maximum length of one sleep: a worker may have damaged the words, so that nothing wakes the thread.
inline constexpr std::int64_t longest_wait_ns = 1'000'000'000;

/// Sleeps until the worker has news, until the deadline, or spuriously. `ready` is called after the thread has
/// announced that it sleeps, and not again once it has returned true: then the thread does not sleep. If `only` names a
/// request, asks to be woken at the end of that request; the worker may also wake the thread for others.
template <class Ready>
void sleep_for_news(shared_channel& channel, completion& completion, Ready&& ready, std::int64_t deadline_ns,
                    vain_wakes& vain, std::int64_t slice_ns = longest_wait_ns, answer_source only = {}) noexcept {
  // Announce, remember the epoch, check once more, sleep. The worker publishes first and then looks for sleepers, so
  // either this thread finds the news or the worker finds the sleeper; a wake in between changes the epoch.
  protocol::progress_page& page = channel->page();
  protocol::application_page& application = channel->application();
  const bool is_curious = only.place == answer_source::nowhere;
  // Before `sleepers`, so that a worker that finds this thread also finds what it waits for.
  if (is_curious)
    application.curious.fetch_add(1, std::memory_order_seq_cst);
  else
    protocol::note_wanted(channel->wanted(only.place), only.number);
  application.sleepers.fetch_add(1, std::memory_order_seq_cst);
  const std::uint32_t before = page.epoch.load(std::memory_order_seq_cst);
  completion.drive();
  const bool is_ready = ready();
  const std::int64_t until = std::min(deadline_ns, now_ns() + slice_ns);
  if (!is_ready) futex_wait(page.epoch, before, futex_scope::shared, until);
  application.sleepers.fetch_sub(1, std::memory_order_seq_cst);
  if (is_curious) application.curious.fetch_sub(1, std::memory_order_seq_cst);
  // News since then was announced to this thread, whether it slept or not, and to no other thread, so this one must
  // drive. has_news() is checked too, because the worker may not have changed the epoch yet.
  const bool has_news = completion.has_news();
  if (has_news || page.epoch.load(std::memory_order_seq_cst) != before) completion.drive();
  const bool brought_nothing = !is_ready && !has_news && !ready();
  if (!brought_nothing || now_ns() < until) vain.count(brought_nothing);
}

}  // namespace troupe

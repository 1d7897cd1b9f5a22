// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <apps/demo/clients.hpp>
#include <chrono>
#include <cstdio>
#include <random>
#include <troupe/base/clock.hpp>
#include <troupe/base/text/cat.hpp>

namespace demo {

using namespace troupe;

clients::clients(actor_ref<batcher> service, const std::vector<sample>& samples, const load& l)
    : service_(std::move(service)),
      samples_(samples),
      load_(l),
      started_ns_(now_ns()),
      until_ns_(started_ns_ + static_cast<std::int64_t>(l.seconds * 1e9)) {
  entry(kind::blocking).name = cat(l.blocking, l.blocking == 1 ? " blocking thread" : " blocking threads");
  entry(kind::coroutine).name = cat(l.coroutines, l.coroutines == 1 ? " coroutine" : " coroutines");
  char rate[32];
  std::snprintf(rate, sizeof rate, "%.6g", l.open_loop_per_s);
  entry(kind::open_loop).name = std::string("open loop, ") + rate + " per s";
  // Clients begin at questions that are far apart, so that they seldom ask the same one at the same time.
  std::uint64_t first = 0;
  for (int i = 0; i < l.coroutines; ++i) coroutines_.push_back(start(pool_, run(this, first += 1'000'003)));
  for (int i = 0; i < l.blocking; ++i) threads_.emplace_back([this, n = first += 1'000'003] { block(n); });
  if (l.open_loop_per_s > 0) threads_.emplace_back([this] { send_at_random_moments(); });
}

clients::~clients() { join(); }

void clients::join() {
  for (std::thread& t : threads_)
    if (t.joinable()) t.join();
  for (pending<void>& c : coroutines_)
    if (c.valid()) (void)c.get();
  // Ends, because every question is answered exactly once.
  const auto& unanswered = entry(kind::open_loop).under_way;
  for (std::uint64_t n = unanswered.load(); n != 0; n = unanswered.load()) unanswered.wait(n);
}

std::uint64_t clients::under_way() const noexcept {
  std::uint64_t n = 0;
  for (const tally& t : tallies_) n += t.under_way.load(std::memory_order_relaxed);
  return n;
}

std::string clients::first_failure() const {
  const std::scoped_lock guard(lock_);
  return first_failure_;
}

void clients::count(kind k, const sample& asked, const result<classes>& answer, std::int64_t since_ns) {
  tally& t = entry(k);
  const std::int64_t now = now_ns();
  std::int64_t last = last_answer_ns_.load(std::memory_order_relaxed);
  while (now > last && !last_answer_ns_.compare_exchange_weak(last, now, std::memory_order_relaxed)) {
  }
  if (!answer) {
    t.failed.fetch_add(1);
    const std::scoped_lock guard(lock_);
    if (first_failure_.empty()) first_failure_ = answer.error().to_string();
  } else if (asked.answered_by(answer->data())) {
    t.right.add(now - since_ns);
    if (now < until_ns_) t.in_time.fetch_add(1);
  } else {
    t.wrong.fetch_add(1);
  }
  if (t.under_way.fetch_sub(1) == 1) t.under_way.notify_all();
}

void clients::block(std::uint64_t first) {
  for (std::uint64_t i = first; now_ns() < until_ns_; ++i) {
    const sample& s = sample_for(i);
    entry(kind::blocking).under_way.fetch_add(1);
    const std::int64_t asked = now_ns();
    count(kind::blocking, s, ask(service_, s.features).get(), asked);
  }
}

task<result<void>> clients::run(clients* self, std::uint64_t first) {
  for (std::uint64_t i = first; now_ns() < self->until_ns_; ++i) {
    const sample& s = self->sample_for(i);
    self->entry(kind::coroutine).under_way.fetch_add(1);
    const std::int64_t asked = now_ns();
    const result<classes> answer = co_await as_result(ask(self->service_, s.features));
    self->count(kind::coroutine, s, answer, asked);
  }
  co_return {};
}

void clients::send_at_random_moments() {
  std::mt19937_64 random(11);
  std::exponential_distribution<double> gap_s(load_.open_loop_per_s);
  std::int64_t due = started_ns_;
  for (std::uint64_t i = 7; (due += static_cast<std::int64_t>(gap_s(random) * 1e9)) < until_ns_; ++i) {
    if (const std::int64_t early = due - now_ns(); early > 0)
      std::this_thread::sleep_for(std::chrono::nanoseconds(early));
    const sample& s = sample_for(i * 5);
    entry(kind::open_loop).under_way.fetch_add(1);
    ask(service_, s.features).then([this, &s, due](result<classes> answer) { count(kind::open_loop, s, answer, due); });
  }
}

}  // namespace demo

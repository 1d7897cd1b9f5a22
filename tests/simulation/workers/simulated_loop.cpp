// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "simulated_loop.hpp"

#include <algorithm>
#include <tuple>

namespace troupe::simulation {

void simulated_loop::post(job& work) noexcept {
  work.next = nullptr;
  (last_ != nullptr ? last_->next : first_) = &work;
  last_ = &work;
}

void simulated_loop::run_job() {
  job* const work = first_;
  first_ = work->next;
  if (first_ == nullptr) last_ = nullptr;
  work->run(work);
}

result<void> simulated_loop::watch(int fd, handler& h) {
  if (refuses_watches) return error(reaction::retry_later, "simulation", "no room for another watch");
  watched_.emplace_back(fd, &h);
  return {};
}

void simulated_loop::unwatch(int fd) {
  std::erase_if(watched_, [fd](const auto& w) { return w.first == fd; });
}

void simulated_loop::at(std::int64_t deadline_ns, std::weak_ptr<handler> h, std::uint64_t tag) {
  timers_.push_back({deadline_ns, ++timers_set_, std::move(h), tag});
}

std::vector<simulated_loop::timer>::iterator simulated_loop::earliest() {
  return std::min_element(timers_.begin(), timers_.end(), [](const timer& a, const timer& b) {
    return std::tuple(a.deadline_ns, a.number) < std::tuple(b.deadline_ns, b.number);
  });
}

std::optional<std::int64_t> simulated_loop::next_time() {
  const auto t = earliest();
  return t == timers_.end() ? std::nullopt : std::optional(t->deadline_ns);
}

bool simulated_loop::fire() {
  const auto t = earliest();
  if (t == timers_.end() || t->deadline_ns > time) return false;
  const timer due = std::move(*t);
  timers_.erase(t);
  if (const auto target = due.target.lock()) target->on_time(due.tag);
  return true;
}

}  // namespace troupe::simulation

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/device/waiting/event_stream.hpp>

namespace troupe {
namespace {

constexpr std::size_t most_kept = 1024;

error over() { return error(reaction::stopped, "device", "watch: the device was closed; there are no more events"); }

}  // namespace

void event_stream::put(const device_event& e) {
  answer to;
  {
    const std::scoped_lock guard(lock_);
    to = std::exchange(waiting_, {});
    if (!to) {
      if (events_.size() == most_kept) {
        events_.pop_front();
        ++missed_;
      }
      events_.push_back(e);
    }
  }
  if (to) to->complete(e);
}

void event_stream::end() {
  answer to;
  {
    const std::scoped_lock guard(lock_);
    ended_ = true;
    to = std::exchange(waiting_, {});
  }
  if (to) to->complete(over());
}

pending<device_event> event_stream::next() {
  if (home_.left()) return make_ready<device_event>(process_home::refusal());
  answer before, mine;
  {
    const std::scoped_lock guard(lock_);
    if (!events_.empty()) {
      auto out = make_ready<device_event>(std::move(events_.front()));
      events_.pop_front();
      return out;
    }
    if (ended_) return make_ready<device_event>(over());
    mine = answer::adopt(new detail::asked<device_event>(core_));
    before = std::exchange(waiting_, mine);
  }
  if (before)
    before->complete(error(reaction::retry_later, "device",
                           "watch: next() was called again before the event of this call; let only one next() wait"));
  return pending<device_event>(std::move(mine));
}

std::optional<device_event> event_stream::poll() {
  if (home_.left()) return {};
  const std::scoped_lock guard(lock_);
  std::optional<device_event> out;
  if (!events_.empty()) {
    out.emplace(std::move(events_.front()));
    events_.pop_front();
  }
  return out;
}

std::uint64_t event_stream::missed() const {
  if (home_.left()) return 0;
  const std::scoped_lock guard(lock_);
  return missed_;
}

void event_stream::detach() {
  if (home_.left()) return;
  answer to;
  {
    const std::scoped_lock guard(lock_);
    to = std::exchange(waiting_, {});
  }
  if (to) to->complete(error(reaction::retry_later, "device", "watch: the watch was destroyed"));
}

}  // namespace troupe

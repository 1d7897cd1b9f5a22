// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <mutex>
#include <troupe/base/linux/process_home.hpp>
#include <troupe/device/asked.hpp>
#include <troupe/device/watch.hpp>

namespace troupe {

/// The queue of events between a device and a device_watch.
class event_stream {
 public:
  explicit event_stream(std::shared_ptr<device_core> core) noexcept : core_(std::move(core)) {}

  void put(const device_event& e);
  /// Ends the stream: no more events follow.
  void end();
  pending<device_event> next();
  std::optional<device_event> poll();
  std::uint64_t missed() const;
  /// Fails the pending `next()`, because the watch is being destroyed.
  void detach();

 private:
  const process_home home_;
  using answer = ref<detail::asked<device_event>>;

  std::shared_ptr<device_core> core_;
  mutable std::mutex lock_;
  std::deque<device_event> events_;
  answer waiting_;
  std::uint64_t missed_ = 0;
  bool ended_ = false;
};

}  // namespace troupe

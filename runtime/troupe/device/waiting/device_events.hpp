// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <troupe/base/log.hpp>
#include <troupe/device/waiting/event_streams.hpp>
#include <troupe/memory/blocks/device_memory.hpp>

namespace troupe {

class reactor_link;

/// Sends the events of a device to its watches and to the log, and holds the device's published state.
class device_events {
 public:
  device_events(const std::string& name, const device_memory& memory, reactor_link& to_reactor, log_sink log)
      : name_(name), memory_(memory), to_reactor_(to_reactor), log_(std::move(log)) {}

  device_state state() const noexcept { return state_.load(); }
  void set_state(device_state s) noexcept { state_.store(s); }

  /// Sends an event. Any thread; events are delivered in the order of the calls.
  void emit(event_kind kind, std::optional<error> cause = {}, time_span took = {});
  /// Passes a message to the log sink, on the thread that runs continuations. If many messages wait because the sink is
  /// slow, drops the message, and later reports how many were dropped.
  void log(log_level level, std::string text);
  /// Runs `f` on the thread that runs continuations, after the waiting ones. For functions that may take long.
  void run_behind(std::function<void()> f);
  event_streams& streams() noexcept { return streams_; }

 private:
  const std::string& name_;
  const device_memory& memory_;
  reactor_link& to_reactor_;
  const log_sink log_;
  // Messages that the sink has not written yet, and those that were dropped because too many were waiting.
  struct backlog {
    std::atomic<std::uint32_t> waiting{0}, dropped{0};
  };
  static void write_dropped(const log_sink& sink, const std::string& name, backlog& b);

  const std::shared_ptr<backlog> backlog_ = std::make_shared<backlog>();
  std::atomic<device_state> state_{device_state::starting};
  event_streams streams_;
};

}  // namespace troupe

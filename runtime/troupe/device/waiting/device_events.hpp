// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <troupe/base/log.hpp>
#include <troupe/device/waiting/event_streams.hpp>
#include <troupe/memory/blocks/device_memory.hpp>

namespace troupe {

class reactor_link;

/// Sends the events of a device to its watches and to the log, and holds the device's published state.
class device_events {
 public:
  device_events(const std::string& name, const device_memory& memory, reactor_link& to_reactor, log_sink log)
      : memory_(memory),
        to_reactor_(to_reactor),
        log_(log ? std::make_shared<log_queue>(name, std::move(log)) : nullptr) {}

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
  // Messages on their way to the sink. Shared with the functions that write them.
  struct log_queue {
    log_queue(const std::string& device, log_sink to) : name(device), sink(std::move(to)) {}
    void write(log_level level, std::string_view text) const;
    void write_dropped();

    const std::string name;
    const log_sink sink;
    std::atomic<std::uint32_t> waiting{0};  // messages that the sink has not written yet
    std::atomic<std::uint32_t> dropped{0};  // those that were dropped because too many were waiting
  };

  const device_memory& memory_;
  reactor_link& to_reactor_;
  const std::shared_ptr<log_queue> log_;  // null without a sink
  std::atomic<device_state> state_{device_state::starting};
  event_streams streams_;
};

}  // namespace troupe

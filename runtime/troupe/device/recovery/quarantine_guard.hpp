// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <troupe/device/device_loop.hpp>
#include <troupe/device/fault.hpp>
#include <troupe/device/mailbox/shared_channel.hpp>
#include <troupe/device/options.hpp>
#include <troupe/device/recovery/quarantine.hpp>
#include <troupe/memory/device_memory.hpp>

namespace troupe {

class device_events;
class ledger;

/// Says which request it is that a worker has died of, and whether one that is to be sent is the same: see quarantine.
class quarantine_guard final : public control_loop::handler {
 public:
  quarantine_guard(const device_options& options, const device_loop& loop, shared_channel& channel, ledger& requests,
                   device_memory& memory, device_events& events) noexcept;
  /// The addresses that requests may name: they do not count.
  void set_addresses(std::uint64_t begin, std::uint64_t end) noexcept { memory_begin_ = begin, memory_end_ = end; }

  // Any thread.
  bool watches() const noexcept { return known_.watches(); }
  /// While it watches: gives the request its place in the order, unless it is refused.
  std::optional<error> claim(std::uint32_t slot, std::uint64_t& ticket);
  /// It was sent while nobody seemed to watch.
  void lose_track(std::span<const operand_use> uses);
  /// Nothing has been written there since it was allocated.
  void is_fresh(const memory_range& r);
  /// What stands for these bytes, which are about to be uploaded; 0: nobody needs to know.
  std::uint64_t digest_of(std::span<const std::byte> uploaded) const;
  /// Kinds of requests that are refused because they have brought workers down.
  std::size_t quarantined() const;

  /// With the drive lock: a worker has died of this one.
  void blame(std::uint32_t slot, fault_record& record);

  // On the control loop.
  /// Sees to it that what is in quarantine does not stay there for too long.
  void watch_time();
  void lift();
  void on_readable(int) override {}
  void on_time(std::uint64_t) override;

 private:
  request_identity identify(std::uint32_t slot, std::uint64_t& may_look_at);
  void note_sent(std::uint32_t slot, const request_identity& id);
  error refused(const quarantine::sentence& s, std::int64_t now_ns) const;
  void tell_of_ended(const std::vector<std::string>& names, const std::string& why);

  const device_options& options_;
  const device_loop& loop_;
  shared_channel& channel_;
  ledger& requests_;
  device_memory& memory_;
  device_events& events_;
  std::uint64_t memory_begin_ = 0, memory_end_ = 0;
  quarantine known_;
  bool armed_ = false;  // the control loop's: there is a timer
};

}  // namespace troupe

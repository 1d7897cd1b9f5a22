// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <troupe/device/core/device_loop.hpp>
#include <troupe/device/fault.hpp>
#include <troupe/device/recovery/quarantine/quarantine.hpp>
#include <troupe/memory/blocks/device_memory.hpp>
#include <troupe/request/operands/operand_uses.hpp>

namespace troupe {

struct device_board;

/// Identifies the request that a worker died of, and checks requests before they are sent: see quarantine.
class quarantine_guard final : public control_loop::handler {
 public:
  explicit quarantine_guard(device_board& board) noexcept;
  /// Sets the range of addresses of operands. Addresses in it are ignored when requests are compared.
  void set_addresses(std::uint64_t begin, std::uint64_t end) noexcept { memory_begin_ = begin, memory_end_ = end; }

  // The following functions may be called on any thread.
  bool watches() const noexcept { return known_.watches(); }
  /// Claims a ticket for the request, or returns the error with which it is refused. Call it only if `watches()`.
  std::optional<error> claim(std::uint32_t slot, std::uint64_t& ticket);
  /// Notes that a request with these operands was sent before its thread found that the quarantine watches: the data
  /// that it writes are unknown.
  void note_unknown_writes(std::span<const operand_use> uses);
  /// Notes that the memory was just allocated: nothing has been written to it.
  void is_fresh(const memory_range& r);
  /// Returns a hash of bytes that are about to be uploaded; 0 if it is not needed, or if there are too many bytes.
  std::uint64_t digest_of(std::span<const std::byte> uploaded) const;
  /// Returns the number of kinds of requests in quarantine.
  std::size_t quarantined() const;

  /// Notes that a worker died of the request in this slot, which the record blames. The caller holds the drive lock.
  void blame(std::uint32_t slot, fault_record& record);

  // The following functions may be called only on the control loop.
  /// Sets the timer that ends quarantines, if there are any.
  void arm_expiry();
  /// Ends all quarantines.
  void lift();
  void on_readable(int) override {}
  void on_time(std::uint64_t) override;

 private:
  request_identity identify(std::uint32_t slot, std::uint64_t& hash_budget);
  void note_sent(std::uint32_t slot, const request_identity& id);
  error refusal_error(const quarantine::refusal& s, std::int64_t now_ns) const;
  void emit_ended(const std::vector<std::string>& names, const std::string& why);

  device_board& board_;
  std::uint64_t memory_begin_ = 0, memory_end_ = 0;
  quarantine known_;
  bool armed_ = false;  // true if the timer is set; used only on the control loop
};

}  // namespace troupe

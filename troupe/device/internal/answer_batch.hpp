// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstring>
#include <optional>
#include <troupe/device/internal/core.hpp>

namespace troupe {

/// Answers found under the drive lock, given after it is released: whoever receives one may call the device again.
struct device_core::answer_batch {
  static constexpr std::size_t most = 64;
  struct one {
    pending_core* pending;
    const request_info* info;
    std::array<std::byte, max_reply_bytes> reply;
    std::optional<error> why;
  };
  std::array<std::optional<one>, most> answers;
  std::size_t count = 0;

  bool full() const noexcept { return count == most; }
  /// Takes over the entry's reference to its pending.
  void add(ledger_entry& e, const std::byte* reply, const error* why) {
    if (e.answer == nullptr) return;
    one& o = answers[count++].emplace(one{std::exchange(e.answer, nullptr), e.info, {}, {}});
    if (why != nullptr)
      o.why = *why;
    else
      std::memcpy(o.reply.data(), reply, max_reply_bytes);
  }
  void deliver() noexcept {
    for (std::size_t i = 0; i < count; ++i) {
      one& o = *answers[i];
      o.info->answer(*o.pending, o.reply.data(), o.why ? &*o.why : nullptr);
      o.pending->release();
    }
  }
};

}  // namespace troupe

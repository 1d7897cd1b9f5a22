// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
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
  union {
    std::array<one, most> answers;  // the first `count` exist: most batches are small, and made very often
  };
  std::size_t count = 0;

  answer_batch() noexcept {}
  answer_batch(const answer_batch&) = delete;
  ~answer_batch() { std::destroy_n(answers.begin(), count); }

  bool full() const noexcept { return count == most; }
  /// Takes over the entry's reference to its pending.
  void add(ledger_entry& e, const std::byte* reply, const error* why) {
    if (e.answer == nullptr) return;
    one& o = *std::construct_at(&answers[count++]);
    o.pending = std::exchange(e.answer, nullptr);
    o.info = e.info;
    if (why != nullptr)
      o.why = *why;
    else
      std::memcpy(o.reply.data(), reply, max_reply_bytes);
  }
  void deliver() noexcept {
    for (one& o : std::span(answers).first(count)) {
      o.info->answer(*o.pending, o.reply.data(), o.why ? &*o.why : nullptr);
      o.pending->release();
    }
  }
};

}  // namespace troupe

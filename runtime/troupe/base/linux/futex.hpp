// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace troupe {

/// The threads that may sleep on a word: those of this process only, or also those of other processes that map its
/// memory.
enum class futex_scope : std::uint8_t { process, shared };

inline constexpr std::int64_t no_deadline = INT64_MAX;

/// Sleeps while the word equals `expected`, at most until `deadline_ns` (monotonic clock). Can wake spuriously. Returns
/// false if the deadline has passed.
bool futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, futex_scope scope,
                std::int64_t deadline_ns = no_deadline) noexcept;

/// Wakes at most `count` sleepers.
void futex_wake(const std::atomic<std::uint32_t>& word, futex_scope scope, int count = INT32_MAX) noexcept;

}  // namespace troupe

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace troupe::detail {

/// The effect of `actor_orders::kill`.
enum class kill_outcome : std::uint8_t {
  nothing,            ///< the actor was killed before, or has ended
  ordered,            ///< the turn's owner will find the order: wake the actor
  handler_abandoned,  ///< a handler runs: the caller owns the turn from now on
};

/// The orders to an actor, and whether a handler runs, in one word that several threads change.
///
/// The orders (stop, kill) are bits that are never cleared. The turn's owner reads them at each step; `actor_core`
/// proves that it misses none.
///
/// **A kill does not wait for a handler.** The owner sets `running` before it runs a handler and clears it afterwards;
/// `kill` sets its bit at any time. Each is one read-modify-write of this word, so they have an order:
///  - `kill` before `running` is set: `begin_handler` sees the kill and the handler does not run.
///  - `kill` while `running` is set: `kill` sets `abandoned` in the same step and thereby takes the turn. The handler's
///    thread sees `abandoned` when it clears `running`, and touches nothing of the actor any more.
///  - `kill` after `running` was cleared: the owner still has the turn and sees the kill at its next step.
///
/// An abandoned handler still uses its message and the object. The handler's thread and the killing thread each set a
/// bit when they are done with both. The second one finds the other's bit and destroys message and object.
class actor_orders {
  static constexpr std::uint32_t stop_bit = 1, shutdown_bit = 2, kill_bit = 4, running_bit = 8, abandoned_bit = 16,
                                 killer_done_bit = 32, handler_done_bit = 64, ended_bit = 128;

 public:
  /// A copy of the word.
  class snapshot {
   public:
    snapshot() noexcept = default;
    bool stop() const noexcept { return (word_ & stop_bit) != 0; }
    /// Returns true if the first stop that was ordered has the kind `shutdown`.
    bool shutdown() const noexcept { return (word_ & shutdown_bit) != 0; }
    bool kill() const noexcept { return (word_ & kill_bit) != 0; }
    friend bool operator==(snapshot, snapshot) = default;

   private:
    friend actor_orders;
    explicit snapshot(std::uint32_t word) noexcept : word_(word) {}
    std::uint32_t word_ = 0;
  };

  // --- any thread ---
  /// Sequentially consistent: see `actor_core`.
  snapshot load() const noexcept { return snapshot(word_.load()); }
  bool stopping() const noexcept { return (word_.load() & (stop_bit | kill_bit)) != 0; }
  bool ended() const noexcept { return (word_.load() & ended_bit) != 0; }
  /// Orders a stop. Returns true if no stop was ordered before: then wake the actor.
  bool stop(bool shutdown) noexcept;
  kill_outcome kill() noexcept;

  // --- the turn's owner ---
  /// Returns false if the actor was killed: then run no handler.
  bool begin_handler() noexcept {
    if ((word_.fetch_or(running_bit) & kill_bit) == 0) return true;
    word_.fetch_and(~running_bit);
    return false;
  }
  /// Returns false if the handler was abandoned: then the turn belongs to another thread.
  bool end_handler() noexcept { return (word_.fetch_and(~running_bit) & abandoned_bit) == 0; }
  bool handler_abandoned() const noexcept { return (word_.load() & abandoned_bit) != 0; }
  void end() noexcept { word_.fetch_or(ended_bit); }

  // --- after a handler was abandoned; each returns true if the caller must destroy the message and the object ---
  bool handler_done() noexcept { return (word_.fetch_or(handler_done_bit) & killer_done_bit) != 0; }
  bool killer_done() noexcept { return (word_.fetch_or(killer_done_bit) & handler_done_bit) != 0; }

 private:
  std::atomic<std::uint32_t> word_{0};
};

}  // namespace troupe::detail

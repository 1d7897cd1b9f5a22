// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <optional>
#include <troupe/actor/core/actor_orders.hpp>
#include <troupe/actor/ending/exit_reason.hpp>
#include <troupe/async/answers/pending_core.hpp>
#include <troupe/async/ref.hpp>
#include <vector>

namespace troupe::detail {

/// An object that is notified once, when an actor has ended.
class watcher {
 public:
  virtual void exited(const exit_reason& reason) noexcept = 0;

 protected:
  ~watcher() = default;
};

/// Notifies watchers when an actor has ended, and cancels pendings that only this actor needs. Thread-safe.
class exit_watchers {
 public:
  exit_watchers() noexcept = default;
  exit_watchers(const exit_watchers&) = delete;
  exit_watchers& operator=(const exit_watchers&) = delete;

  /// Registers `w`, which is notified once, unless it is removed first. Returns false if the actor has ended: then `w`
  /// was notified in this call.
  bool add(watcher& w);
  /// Returns true if `w` was registered and will not be notified.
  bool remove(watcher& w) noexcept;
  /// Cancels the pending when the actor ends, or at once if it has ended.
  void cancel_at_end(ref<pending_core> source);

  /// Returns the reason of the actor's end; null while it lives.
  const exit_reason* reason() const noexcept;

  /// Marks the actor as ended, then cancels pendings and notifies watchers. Called once. The mark and `reason` are set
  /// under one lock: a thread that sees the mark finds the reason, and a thread that finds the reason, or is notified,
  /// sees the mark.
  void end(const exit_reason& reason, actor_orders& orders) noexcept;

 private:
  mutable std::mutex guard_;  // guards the following members
  std::vector<watcher*> watchers_;
  std::vector<ref<pending_core>> sources_;
  std::optional<exit_reason> reason_;  // never changes once set
};

}  // namespace troupe::detail

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <stop_token>
#include <troupe/base/error.hpp>

namespace troupe {

class request_mailbox;

/// What the requests of one client have in common: a deadline, and a way to stop those that have not started. Kept by
/// the handles of `device::within` and by their requests without an answer.
class request_scope : public std::enable_shared_from_this<request_scope> {
 public:
  /// Why requests of one that was stopped are refused or cancelled.
  static constexpr const char* stopped_text = "its client was stopped before it started (scope_options::stop)";

  /// `outer` may be null: otherwise what ends it ends this one, too.
  static std::shared_ptr<request_scope> make(const std::shared_ptr<request_mailbox>& mailbox, std::int64_t deadline_ns,
                                             std::stop_token stop, const std::shared_ptr<request_scope>& outer);
  explicit request_scope(std::int64_t deadline_ns) noexcept : deadline_ns_(deadline_ns) {}

  std::int64_t deadline_ns() const noexcept { return deadline_ns_; }
  bool stopped() const noexcept { return stopped_.load(std::memory_order_seq_cst); }
  /// Why nothing more is accepted; nothing while it is.
  std::optional<error> refusal(std::int64_t now_ns) const;

 private:
  struct on_stop {
    request_scope& scope;
    void operator()() const noexcept { scope.stop(); }
  };
  void stop() noexcept;

  const std::int64_t deadline_ns_;
  std::weak_ptr<request_mailbox> mailbox_;
  std::atomic<bool> stopped_{false};
  std::stop_source source_;  // for scopes within this one
  std::optional<std::stop_callback<on_stop>> by_user_, by_outer_;
};

}  // namespace troupe

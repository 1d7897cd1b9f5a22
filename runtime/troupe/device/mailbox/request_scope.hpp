// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <stop_token>
#include <troupe/base/error.hpp>
#include <troupe/device/scope.hpp>

namespace troupe {

class request_mailbox;

/// The deadline and the stop token that the requests of one client share. Owned by the handles that `device::within`
/// returned, and by their unanswered requests.
class request_scope : public std::enable_shared_from_this<request_scope> {
 public:
  /// The error text of requests that are refused or cancelled because their scope was stopped.
  static constexpr const char* stopped_text = "its scope was stopped before it started (scope_options::stop)";

  /// Makes a scope. If `outer` is not null, its limits and its stop apply to this scope too.
  static std::shared_ptr<request_scope> make(const std::shared_ptr<request_mailbox>& mailbox, std::int64_t deadline_ns,
                                             const scope_options& options, const std::shared_ptr<request_scope>& outer);
  request_scope(std::int64_t deadline_ns, std::int64_t run_limit_ns) noexcept
      : deadline_ns_(deadline_ns), run_limit_ns_(run_limit_ns) {}

  std::int64_t deadline_ns() const noexcept { return deadline_ns_; }
  /// Returns the time for which each request may run.
  std::int64_t run_limit_ns() const noexcept { return run_limit_ns_; }
  bool stopped() const noexcept { return stopped_.load(std::memory_order_seq_cst); }
  /// Returns the error with which requests are refused; nullopt if they are accepted.
  std::optional<error> refusal(std::int64_t now_ns) const;

 private:
  struct on_stop {
    request_scope& scope;
    void operator()() const noexcept { scope.stop(); }
  };
  void stop() noexcept;

  const std::int64_t deadline_ns_, run_limit_ns_;
  std::weak_ptr<request_mailbox> mailbox_;
  std::atomic<bool> stopped_{false};
  std::stop_source source_;  // stops nested scopes
  std::optional<std::stop_callback<on_stop>> by_user_, by_outer_;
};

}  // namespace troupe

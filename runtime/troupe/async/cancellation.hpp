// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <stop_token>
#include <string_view>
#include <troupe/async/answers/pending_core.hpp>
#include <troupe/async/ref.hpp>
#include <troupe/base/error.hpp>

namespace troupe {

/// Cancels a core when a stop is requested, as long as this object lives. The core must outlive it.
class cancel_link {
 public:
  /// Cancels the core at a stop of `token`. Owns `other`, the link of another token.
  cancel_link(std::stop_token token, pending_core& core, std::unique_ptr<cancel_link> other = nullptr)
      : other_(std::move(other)), callback_(std::move(token), call{&core}) {}

 private:
  struct call {
    pending_core* core;
    void operator()() const noexcept {
      const auto keep = ref<pending_core>::share(core);  // the answer can destroy this link and its owner
      keep->cancel();
    }
  };
  std::unique_ptr<cancel_link> other_;
  std::stop_callback<call> callback_;
};

/// Holds the hook that a producer wants to run when its consumer cancels. The hook runs at most once and is destroyed
/// as soon as it can no longer run; a hook that is running can outlive `close` and the slot. Thread-safe without a
/// lock: one pointer decides which thread owns the hook.
class cancel_slot {
 public:
  struct hook {
    virtual void run() noexcept = 0;
    virtual ~hook() = default;
  };

  cancel_slot() noexcept = default;
  cancel_slot(const cancel_slot&) = delete;
  ~cancel_slot() { close(); }

  bool requested() const noexcept { return hook_.load(std::memory_order_acquire) == cancelled(); }
  /// Runs the installed hook; if none is installed yet, the next one runs when it is installed. Does nothing after
  /// `close`.
  void request() noexcept;
  /// Returns false if a hook is installed already. Runs the hook at once if cancellation was requested before; discards
  /// it after `close`.
  bool install(std::unique_ptr<hook> h) noexcept;
  /// Discards the hook, because the answer was set.
  void close() noexcept;

 private:
  static hook* cancelled() noexcept { return reinterpret_cast<hook*>(alignof(hook)); }
  static hook* closed() noexcept { return reinterpret_cast<hook*>(2 * alignof(hook)); }
  static bool is_hook(hook* h) noexcept { return h && h != cancelled() && h != closed(); }

  std::atomic<hook*> hook_{nullptr};  // null, a hook, or one of the markers cancelled() and closed()
};

/// Returns the error (`retry_later`) of work that ended because its consumer cancelled it.
error cancelled(std::string_view what);

}  // namespace troupe

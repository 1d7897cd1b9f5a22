// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <string>
#include <troupe/async/cancellation.hpp>

namespace troupe {

void cancel_slot::request() noexcept {
  hook* seen = hook_.load(std::memory_order_acquire);
  do {
    if (seen == cancelled() || seen == closed()) return;
  } while (!hook_.compare_exchange_weak(seen, cancelled(), std::memory_order_acq_rel, std::memory_order_acquire));
  if (const std::unique_ptr<hook> mine(seen); mine) mine->run();
}

bool cancel_slot::install(std::unique_ptr<hook> h) noexcept {
  hook* seen = nullptr;
  if (hook_.compare_exchange_strong(seen, h.get(), std::memory_order_acq_rel, std::memory_order_acquire)) {
    (void)h.release();
    return true;
  }
  if (is_hook(seen)) return false;
  if (seen == cancelled()) h->run();
  return true;
}

void cancel_slot::close() noexcept {
  hook* seen = hook_.load(std::memory_order_acquire);
  do {
    if (seen == cancelled() || seen == closed()) return;
  } while (!hook_.compare_exchange_weak(seen, closed(), std::memory_order_acq_rel, std::memory_order_acquire));
  delete seen;
}

error cancelled(std::string_view what) {
  return error::retry_later("async", ECANCELED, std::string(what) + " was cancelled before it completed");
}

}  // namespace troupe

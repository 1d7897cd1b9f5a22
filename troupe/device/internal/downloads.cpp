// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Downloads of ordinary memory: whoever drives the device copies them to their places.
#include <algorithm>
#include <troupe/device/internal/core.hpp>
#include <troupe/device/internal/transfer.hpp>

namespace troupe {

void device_core::add_transfer(std::shared_ptr<transfer> t) {
  {
    const std::scoped_lock guard(transfer_lock_);
    transfers_.push_back(std::move(t));
    has_transfers_.store(true, std::memory_order_seq_cst);
  }
  wake_reactor();
}

// True when one has come to its end.
bool device_core::pump_transfers() noexcept {
  bool some = false;
  std::vector<std::shared_ptr<transfer>> now;
  {
    const std::scoped_lock guard(transfer_lock_);
    now = transfers_;
  }
  for (const auto& t : now) {
    const transfer::progress how = t->advance(copies_);
    if (how == transfer::progress::impossible) violated("a download's counter");
    if (how != transfer::progress::over) continue;
    t->tell();
    download_ends(t->ticket);
    const std::scoped_lock guard(transfer_lock_);
    std::erase(transfers_, t);
    has_transfers_.store(!transfers_.empty(), std::memory_order_seq_cst);
    some = true;
  }
  return some;
}

void device_core::download_begins(std::uint64_t ticket) {
  const std::scoped_lock guard(downloads_lock_);
  downloads_.push_back(ticket);
  downloads_count_.store(downloads_.size(), std::memory_order_seq_cst);
}

void device_core::download_ends(std::uint64_t ticket) noexcept {
  std::vector<after_downloads> done;
  {
    const std::scoped_lock guard(downloads_lock_);
    const auto found = std::find(downloads_.begin(), downloads_.end(), ticket);
    if (found == downloads_.end()) return;  // it was refused
    *found = downloads_.back();
    downloads_.pop_back();
    downloads_count_.store(downloads_.size(), std::memory_order_seq_cst);
    const auto rest = std::partition(after_downloads_.begin(), after_downloads_.end(),
                                     [this](const after_downloads& a) { return downloads_before(a.ticket); });
    std::move(rest, after_downloads_.end(), std::back_inserter(done));
    after_downloads_.erase(rest, after_downloads_.end());
  }
  for (const after_downloads& a : done) a.answer->complete(a.with);
}

// With downloads_lock_ held.
bool device_core::downloads_before(std::uint64_t ticket) const noexcept {
  return std::any_of(downloads_.begin(), downloads_.end(), [ticket](std::uint64_t d) { return d < ticket; });
}

void device_core::answer_after_downloads(std::uint64_t ticket, const result<void>& with,
                                         ref<pending_state<void>> answer) {
  {
    const std::scoped_lock guard(downloads_lock_);
    if (downloads_before(ticket)) return void(after_downloads_.push_back({ticket, with, std::move(answer)}));
  }
  answer->complete(with);
}

bool device_core::transfer_has_data() const noexcept {
  const std::scoped_lock guard(transfer_lock_);
  return std::any_of(transfers_.begin(), transfers_.end(), [](const auto& t) { return t->has_data(); });
}

}  // namespace troupe

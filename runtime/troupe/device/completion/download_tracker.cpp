// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/device/completion/download_tracker.hpp>
#include <troupe/device/completion/transfer.hpp>

namespace troupe {

void download_tracker::begin(std::uint64_t ticket) {
  const std::scoped_lock guard(tickets_lock_);
  tickets_.push_back(ticket);
  count_.store(tickets_.size(), std::memory_order_seq_cst);
}

void download_tracker::end(std::uint64_t ticket) noexcept {
  std::vector<waiting_answer> done;
  {
    const std::scoped_lock guard(tickets_lock_);
    const auto found = std::find(tickets_.begin(), tickets_.end(), ticket);
    if (found == tickets_.end()) return;  // its request was refused
    *found = tickets_.back();
    tickets_.pop_back();
    count_.store(tickets_.size(), std::memory_order_seq_cst);
    const auto rest = std::partition(waiting_.begin(), waiting_.end(),
                                     [this](const waiting_answer& a) { return any_before(a.ticket); });
    std::move(rest, waiting_.end(), std::back_inserter(done));
    waiting_.erase(rest, waiting_.end());
  }
  for (const waiting_answer& a : done) a.answer->complete(a.with);
}

// The caller holds tickets_lock_.
bool download_tracker::any_before(std::uint64_t ticket) const noexcept {
  return std::any_of(tickets_.begin(), tickets_.end(), [ticket](std::uint64_t t) { return t < ticket; });
}

void download_tracker::answer_after(std::uint64_t ticket, const result<void>& with, ref<pending_state<void>> answer) {
  {
    const std::scoped_lock guard(tickets_lock_);
    if (any_before(ticket)) return void(waiting_.push_back({ticket, with, std::move(answer)}));
  }
  answer->complete(with);
}

void download_tracker::add(std::shared_ptr<transfer> t) {
  const std::scoped_lock guard(transfers_lock_);
  copies_.add(*t);
  transfers_.push_back(std::move(t));
  has_transfers_.store(true, std::memory_order_seq_cst);
}

bool download_tracker::has_data() const noexcept {
  const std::scoped_lock guard(transfers_lock_);
  return std::any_of(transfers_.begin(), transfers_.end(), [](const auto& t) { return t->has_news(); });
}

download_tracker::progress download_tracker::advance() noexcept {
  progress all;
  std::vector<std::shared_ptr<transfer>> now;
  {
    const std::scoped_lock guard(transfers_lock_);
    now = transfers_;
  }
  for (const auto& t : now) {
    const transfer::progress how = t->advance(copies_);
    all.impossible |= how == transfer::progress::impossible;
    if (how != transfer::progress::finished) continue;
    copies_.remove(*t);
    t->answer_caller();
    end(t->ticket);
    const std::scoped_lock guard(transfers_lock_);
    std::erase(transfers_, t);
    has_transfers_.store(!transfers_.empty(), std::memory_order_seq_cst);
    all.some_ended = true;
  }
  return all;
}

void download_tracker::begin_again() noexcept {
  const std::scoped_lock guard(transfers_lock_);
  for (const auto& t : transfers_) t->begin_again();
}

}  // namespace troupe

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/threads/lock_soon.hpp>
#include <troupe/memory/copying/upload_blocks.hpp>

namespace troupe {

// Numbers threads in the order of their first call, modulo the number of shelves.
std::uint8_t upload_blocks::shelf_of_this_thread() noexcept {
  static std::atomic<unsigned> next{0};
  thread_local const auto mine = static_cast<std::uint8_t>(next.fetch_add(1, std::memory_order_relaxed) % threads);
  return mine;
}

// Moves the blocks in `back` to the lists by size; the caller holds the shelf's lock. A closed shelf stays closed.
void upload_blocks::collect(shelf& s, owned_block* then) noexcept {
  if (s.back.load(std::memory_order_relaxed) == &end_) return;
  owned_block* b = s.back.exchange(then, std::memory_order_acquire);
  while (b != nullptr) {
    owned_block* const next = b->next_kept;
    b->next_kept = std::exchange(s.free[size_class(b->charged)], b);
    b = next;
  }
}

owned_block* upload_blocks::take_first(shelf& s, owned_block*& list) noexcept {
  owned_block* const b = std::exchange(list, list->next_kept);
  s.uncount(*b);
  return b;
}

owned_block* upload_blocks::take(std::uint64_t bytes) noexcept {
  shelf& s = shelves_[shelf_of_this_thread()];
  const std::unique_lock guard = lock_soon(s.lock);
  owned_block*& list = s.free[size_class(size_for(bytes))];
  if (list == nullptr) collect(s, nullptr);
  if (list == nullptr) return nullptr;
  s.taken.store(s.taken.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  return take_first(s, list);
}

void upload_blocks::assign(owned_block& b) noexcept { b.shelf = static_cast<std::uint8_t>(shelf_of_this_thread() + 1); }

bool upload_blocks::put_back(owned_block& b) noexcept {
  shelf& s = shelves_[b.shelf - 1u];
  owned_block* first = s.back.load(std::memory_order_relaxed);
  if (first == &end_ || s.bytes.load(std::memory_order_relaxed) >= most_kept) return false;
  // Counts the block first, so that the count is never too small.
  s.count(b);
  do {
    b.next_kept = first;
    if (s.back.compare_exchange_weak(first, &b, std::memory_order_release, std::memory_order_relaxed)) return true;
  } while (first != &end_);
  s.uncount(b);
  return false;
}

void upload_blocks::close() noexcept {
  for (shelf& s : shelves_) {
    const std::scoped_lock guard(s.lock);
    collect(s, &end_);
  }
}

upload_blocks::figures upload_blocks::statistics() const noexcept {
  figures out;
  for (const shelf& s : shelves_) {
    out.blocks += s.blocks.load(std::memory_order_relaxed);
    out.bytes += s.bytes.load(std::memory_order_relaxed);
    out.taken += s.taken.load(std::memory_order_relaxed);
  }
  return out;
}

}  // namespace troupe

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <troupe/actor/messages/mailbox.hpp>

namespace troupe::detail {

static_assert(sizeof(mailbox_cell) == 64);

void mailbox::free_memory::operator()(void* memory) const noexcept { std::free(memory); }

mailbox::mailbox(std::size_t capacity) : capacity_(std::clamp<std::size_t>(capacity, 1, std::size_t{1} << 31)) {
  const std::size_t cells = std::bit_ceil(capacity_);
  mask_ = cells - 1;
  shift_ = static_cast<unsigned>(std::countr_zero(cells));
  // A zero state means: free for lap 0. For large sizes, calloc returns the system's zero pages without touching them.
  memory_.reset(std::calloc(cells + 1, sizeof(mailbox_cell)));
  if (!memory_) throw std::bad_alloc();
  const auto address = reinterpret_cast<std::uintptr_t>(memory_.get());
  const std::uintptr_t up = alignof(mailbox_cell) - address % alignof(mailbox_cell);
  cells_ = reinterpret_cast<mailbox_cell*>(static_cast<std::byte*>(memory_.get()) + up);
}

std::size_t mailbox::size() const noexcept {
  const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
  const std::uint64_t head = head_.load(std::memory_order_relaxed) & ~closed_bit;
  return head > tail ? head - tail : 0;
}

bool mailbox::free_for(std::uint64_t position) const noexcept {
  if (at(position).state().load(std::memory_order_acquire) != 2 * (position >> shift_)) return false;
  if (capacity_ == mask_ + 1 || position < capacity_) return true;
  const std::uint64_t before = position - capacity_;
  return at(before).state().load(std::memory_order_acquire) >= 2 * ((before >> shift_) + 1);
}

mailbox::claim mailbox::take_place() noexcept {
  std::uint64_t position = head_.load(std::memory_order_relaxed);
  for (;;) {
    if (position & closed_bit) return {.why = refusal::stopped};
    if (!free_for(position)) {
      // Either the mailbox is full, or `position` is out of date. `head` only grows: if it still has this value, it had
      // it when the cell was found taken, so the mailbox was full then.
      const std::uint64_t now = head_.load(std::memory_order_relaxed);
      if (now == position) return {.why = refusal::full};
      position = now;
      continue;
    }
    if (head_.compare_exchange_weak(position, position + 1, std::memory_order_relaxed)) break;
  }
  return {.cell = &at(position), .full_state = 2 * (position >> shift_) + 1};
}

mailbox::next_place mailbox::next() noexcept {
  const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
  return {.cell = &at(tail), .full_state = 2 * (tail >> shift_) + 1};
}

void mailbox::pop() noexcept {
  const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
  mailbox_cell& cell = at(tail);
  std::destroy_at(cell.message());
  tail_.store(tail + 1, std::memory_order_relaxed);
  cell.state().store(2 * ((tail >> shift_) + 1), std::memory_order_release);
}

void mailbox::refuse_all(const error& why) noexcept {
  while (envelope* const message = front()) {
    message->refuse(why);
    pop();
  }
}

}  // namespace troupe::detail

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <troupe/actor/messages/envelope.hpp>
#include <troupe/async/accepted.hpp>
#include <type_traits>
#include <utility>

namespace troupe::detail {

/// The memory for one message. A small envelope is constructed in it, a large one on the heap.
struct alignas(64) mailbox_cell {
  static constexpr std::size_t room = 56;

  std::uint64_t state_word;  // 2 * lap: free for that lap; 2 * lap + 1: holds that lap's message
  alignas(8) std::byte storage[room];

  std::atomic_ref<std::uint64_t> state() noexcept { return std::atomic_ref(state_word); }
  envelope* message() noexcept { return std::launder(reinterpret_cast<envelope*>(storage)); }
};

/// A bounded queue of envelopes: many producers, one consumer, no lock.
///
/// Positions only increase. Position p belongs to cell p mod cells, in lap p / cells.
///  - A place is claimed by moving `head` from p to p + 1, so mailbox order is the order of claims, and one thread's
///    messages keep their order.
///  - A cell's `state` says which side may use it. The producer of lap l may write once it has read 2l, which the
///    consumer stored (release) when it was done with lap l - 1. The consumer may read once it has read 2l + 1, which
///    the producer stored (release) when the envelope was complete.
///  - `closed` is a bit of `head`. A later claim fails, so `head` does not change any more, and the consumer knows all
///    claims that succeeded.
///  - If the capacity is not a power of two, p may be claimed only once p - capacity has been released.
class mailbox {
 public:
  struct claim {
    mailbox_cell* cell = nullptr;
    std::uint64_t full_state = 0;  ///< the state to store when the envelope is complete
    refusal why = refusal::none;   ///< why there is no cell
  };

  explicit mailbox(std::size_t capacity);
  mailbox(const mailbox&) = delete;
  mailbox& operator=(const mailbox&) = delete;

  std::size_t capacity() const noexcept { return capacity_; }
  /// Returns the number of messages, including the one being handled. Approximate while other threads send.
  std::size_t size() const noexcept;

  /// Any thread: constructs an `Envelope` from the arguments at the end of the queue. If it returns a refusal, the
  /// arguments are unchanged. If the constructor throws, the exception is rethrown, and an `empty_envelope` takes the
  /// place.
  template <class Envelope, class... Args>
  refusal push(Args&&... args) {
    const claim place = take_place();
    if (!place.cell) return place.why;
    try {
      if constexpr (sizeof(Envelope) <= mailbox_cell::room && alignof(Envelope) <= 8) {
        ::new (place.cell->storage) Envelope(std::forward<Args>(args)...);
      } else {
        auto large = std::make_unique<Envelope>(std::forward<Args>(args)...);
        ::new (place.cell->storage) boxed_envelope(std::move(large));
      }
    } catch (...) {
      ::new (place.cell->storage) empty_envelope;
      publish(place);
      throw;
    }
    publish(place);
    return refusal::none;
  }

  /// Any thread: closes the mailbox, so that later pushes are refused.
  void close() noexcept { head_.fetch_or(closed_bit); }

  /// Consumer: returns the oldest message, or null if it is not complete yet. Sequentially consistent: see
  /// `actor_core`.
  envelope* front() noexcept {
    const next_place place = next();
    return place.ready() ? place.cell->message() : nullptr;
  }
  /// Consumer: destroys the oldest message and frees its place.
  void pop() noexcept;
  /// Consumer: refuses and pops all complete messages.
  void refuse_all(const error& why) noexcept;
  /// Consumer: skips the oldest message without destroying it or freeing its place. The mailbox must be closed.
  void skip() noexcept { tail_.store(tail_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
  /// Consumer: returns true if the mailbox is closed and every claimed message was popped or skipped.
  bool drained() const noexcept { return head_.load() == (tail_.load(std::memory_order_relaxed) | closed_bit); }

  /// The cell that the consumer reads next. A thread that is no longer the consumer may still call `ready`.
  struct next_place {
    mailbox_cell* cell;
    std::uint64_t full_state;
    bool ready() const noexcept { return cell->state().load() == full_state; }
  };
  next_place next() noexcept;

 private:
  static constexpr std::uint64_t closed_bit = std::uint64_t{1} << 63;
  struct free_memory {
    void operator()(void* memory) const noexcept;
  };

  claim take_place() noexcept;
  static void publish(const claim& place) noexcept { place.cell->state().store(place.full_state); }
  bool free_for(std::uint64_t position) const noexcept;
  mailbox_cell& at(std::uint64_t position) const noexcept { return cells_[position & mask_]; }

  alignas(64) std::atomic<std::uint64_t> head_{0};
  alignas(64) std::atomic<std::uint64_t> tail_{0};  // written by the consumer only
  const std::size_t capacity_;
  std::uint64_t mask_ = 0;
  unsigned shift_ = 0;
  std::unique_ptr<void, free_memory> memory_;
  mailbox_cell* cells_ = nullptr;
};

}  // namespace troupe::detail

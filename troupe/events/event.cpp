// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <mutex>
#include <new>
#include <troupe/events/event.hpp>

namespace troupe::events {

struct event::state {
  explicit state(const device& on, const event_options& o)
      : gpu(on), options(o), memory(on.alloc_host<std::byte>(sizeof(event_memory), {.alignment = 64})) {
    if (memory.data() == nullptr) return;  // whatever is asked of this event is refused with the reason
    std::construct_at(words());
    memory.memory().owner->at_fault.store(fate::lost, std::memory_order_relaxed);
  }
  // Fire and forget: when the device has stopped or its mailbox is full, the worker keeps it until it ends.
  ~state() {
    if (known) (void)gpu.tell(forget{.event = out<std::byte>(memory.memory())});
  }
  state(const state&) = delete;
  event_memory* words() const noexcept { return reinterpret_cast<event_memory*>(memory.data()); }
  in<std::byte> read() const { return in<std::byte>(memory.memory()); }
  out<std::byte> written() {
    known = true;
    return out<std::byte>(memory.memory());
  }
  // Numbers rise in the order in which the device has the recordings, whoever records: query() compares with the last.
  template <class Record>
  pending<void> send(Record recording) {
    const std::scoped_lock guard(order);
    recording.number = ++numbered;
    pending<void> answer = gpu.ask(recording);
    if (answer.ready()) {
      const result<void> known_already = answer.take();
      answer = make_ready(known_already);
      if (!known_already) return answer;  // refused: the one before is still the last
    }
    last = recording.number;
    return answer;
  }

  const device gpu;
  const event_options options;
  const host_buffer<std::byte> memory;
  std::mutex order;
  std::uint64_t numbered = 0;
  std::atomic<std::uint64_t> last{0};  // number of the last recording that was sent
  std::atomic<bool> known{false};      // by a worker, maybe
};

event::event(const device& gpu, const event_options& options) : state_(std::make_shared<state>(gpu, options)) {}

event event::open(const device& gpu, const event_handle& handle) {
  event out(gpu, {.inter_process = true});
  // A tell: should it be refused, the event is stale with the reason.
  (void)gpu.tell(events::open{.event = out.state_->written(), .handle = handle});
  return out;
}

pending<void> event::record() const {
  return state_->send(
      record_all{.event = state_->written(), .number = 0, .inter_process = state_->options.inter_process});
}

pending<void> event::record_after(std::vector<in<std::byte>> after) const {
  return state_->send(events::record{.event = state_->written(),
                                     .after = std::move(after),
                                     .number = 0,
                                     .inter_process = state_->options.inter_process});
}

pending<void> event::hold_back_all(std::vector<inout<std::byte>> before) const {
  return state_->gpu.ask(events::hold_back{.event = state_->read(), .before = std::move(before)});
}

bool event::query() const noexcept {
  const event_memory* const words = state_->words();
  const std::uint64_t last = state_->last.load();
  return words != nullptr && last != 0 && words->recorded.load(std::memory_order_acquire) >= last;
}

pending<void> event::reached() const { return state_->gpu.ask(reach{.event = state_->read()}); }
pending<event_handle> event::handle() const { return state_->gpu.ask(share{.event = state_->read()}); }

pending<std::chrono::nanoseconds> elapsed(const event& from, const event& to) {
  return from.state_->gpu.ask(elapsed_time{.from = from.state_->read(), .to = to.state_->read()})
      .then([](const result<std::int64_t>& ns) -> result<std::chrono::nanoseconds> {
        if (!ns) return ns.error();
        return std::chrono::nanoseconds(*ns);
      });
}

}  // namespace troupe::events

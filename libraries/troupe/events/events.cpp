// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <mutex>
#include <optional>
#include <troupe/events/events.hpp>

namespace troupe::events {
namespace {

// Allocates memory that stands for an object in the worker. If the allocation fails, requests that use it are refused
// with the reason.
host_buffer<std::byte> placeholder(const device& gpu, extent bytes) {
  auto out = gpu.alloc_host<std::byte>(bytes, {.alignment = 64});
  if (out.data() != nullptr) out.memory().owner->at_fault.store(fate::lost, std::memory_order_relaxed);
  return out;
}

}  // namespace

struct event::state {
  explicit state(const device& on, const event_options& o)
      : gpu(on), options(o), memory(placeholder(on, sizeof(event_memory))) {
    if (memory.data() != nullptr) std::construct_at(words());
  }
  // The reply is not awaited: if the device has stopped or its mailbox is full, the worker keeps the event until the
  // worker ends or another event gets this memory.
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
  // Called before any other thread has the event. Sent with tell: if it is refused, the event becomes stale, with the
  // reason as the cause.
  void open(const event_handle& from) {
    opened_from = from;
    opening = placeholder(gpu, 1);
    (void)gpu.tell(events::open{.event = written(), .opened = out<std::byte>(opening.memory()), .handle = from});
  }
  std::optional<in<std::byte>> opened() const {
    return opened_from ? std::optional(in<std::byte>(opening.memory())) : std::nullopt;
  }
  // Numbers rise in the order in which the device receives the recordings, whichever process sends them, because
  // query() compares the event's number with the last one.
  template <class Record>
  pending<void> send(Record recording) {
    const std::scoped_lock guard(order);
    recording.number = ++numbered;
    pending<void> answer = gpu.ask(recording);
    if (answer.ready()) {
      const result<void> known_already = answer.take();
      answer = make_ready(known_already);
      if (!known_already) return answer;  // the recording was refused, so the previous one is still the last
    }
    last = recording.number;
    return answer;
  }
  bool is_last(std::atomic<std::uint64_t> event_memory::* said) const noexcept {
    const event_memory* const all = words();
    const std::uint64_t number = last.load();
    return all != nullptr && number != 0 && (all->*said).load(std::memory_order_acquire) >= number;
  }
  // Explains a failure that recording the event again does not mend: an event of another process that is not open in
  // this worker.
  pending<void> explained(pending<void> answer) const {
    if (!opened_from) return answer;
    return std::move(answer).then([opening = opening](const result<void>& r) -> result<void> {
      if (r || r.error().reaction() == reaction::unsupported || opening.readable()) return r;
      error::details d = r.error().all();
      d.text += "; an event of another process is open only in the worker that opened it: open it again";
      return error(std::move(d));
    });
  }

  const device gpu;
  const event_options options;
  const host_buffer<std::byte> memory;
  host_buffer<std::byte> opening;  // lost with the worker that opened the event, so that later recordings are refused
  std::optional<event_handle> opened_from;
  std::mutex order;
  std::uint64_t numbered = 0;
  std::atomic<std::uint64_t> last{0};  // number of the last recording that was sent
  std::atomic<bool> known{false};      // whether a worker may know the event
};

event::event(const device& gpu, const event_options& options) : state_(std::make_shared<state>(gpu, options)) {}

event event::open(const device& gpu, const event_handle& handle) {
  event out(gpu, {.inter_process = true});
  out.state_->open(handle);
  return out;
}

pending<void> event::record() const {
  return state_->explained(state_->send(record_all{.event = state_->written(),
                                                   .number = 0,
                                                   .inter_process = state_->options.inter_process,
                                                   .opened = state_->opened()}));
}

pending<void> event::record_after(std::vector<in<std::byte>> after) const {
  return state_->explained(state_->send(events::record{.event = state_->written(),
                                                       .after = std::move(after),
                                                       .number = 0,
                                                       .inter_process = state_->options.inter_process,
                                                       .opened = state_->opened()}));
}

pending<void> event::hold_back_all(std::vector<inout<std::byte>> before) const {
  return state_->explained(state_->gpu.ask(events::hold_back{.event = state_->read(), .before = std::move(before)}));
}

bool event::query() const noexcept { return state_->is_last(&event_memory::recorded); }
bool event::enqueued() const noexcept { return state_->is_last(&event_memory::enqueued); }

pending<void> event::reached() const { return state_->explained(state_->gpu.ask(reach{.event = state_->read()})); }

pending<event_handle> event::handle() const {
  if (state_->opened_from) return make_ready<event_handle>(*state_->opened_from);
  state_->known = true;
  // The continuation keeps the event alive until the reply arrives: the device does not order `forget` after this
  // request.
  return state_->gpu.ask(share{.event = state_->read(), .inter_process = state_->options.inter_process})
      .then([keep = state_](const result<event_handle>& answer) { return answer; });
}

pending<std::chrono::nanoseconds> elapsed(const event& from, const event& to) {
  return from.state_->gpu.ask(elapsed_time{.from = from.state_->read(), .to = to.state_->read()})
      .then([](const result<std::int64_t>& ns) -> result<std::chrono::nanoseconds> {
        if (!ns) return ns.error();
        return std::chrono::nanoseconds(*ns);
      });
}

}  // namespace troupe::events

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "clients.hpp"

#include <algorithm>
#include <troupe/device/sealing.hpp>

#include <tests/simulation/requests.hpp>

namespace troupe::simulation {
namespace {

constexpr std::uint32_t max_words = 8;

}  // namespace

clients::clients(run_state& run, device_under_test& device, request_log& log, client_buffers& buffers,
                 blocking_calls& calls)
    : run_(run),
      device_(device),
      log_(log),
      buffers_(buffers),
      calls_(calls),
      submission_(run, device, log, [this](const client_request& q) { send_after(q); }) {}

void clients::act(random_bits& r) {
  const std::uint32_t roll = r.below(1000);
  if (roll < 120 || buffers_.size() < 2) return allocate(r);
  if (roll < 180) return drop_buffer(r);
  if (roll < 270) return cancel(r);
  if (roll > (run_.settings.wild ? 800 : 900)) return seal_or_unseal(r);
  if (roll < 280) return void(device_.handle().trim());
  if (roll < 290) return void(device_.handle().statistics());
  if (roll < 320 && device_.gave_up() && !device_.closing()) return reset();
  if (roll < 324) {
    const bool now = r.percent(50);
    run_.record.note(now ? "close now" : "close");
    (void)device_.close(now);
    return;
  }
  send(r);
}

void clients::reset() {
  run_.record.note("reset");
  (void)device_.handle().reset().then([gpu = device_.handle()](const result<void>&) { (void)gpu.statistics(); });
}

void clients::allocate(random_bits& r) {
  if (buffers_.size() >= 8) return drop_buffer(r);
  const std::uint32_t n = run_.settings.transfers ? r.between(6, 2 * max_words) : r.between(1, max_words);
  const bool sealable = run_.settings.options.memory_limit > 256 * 16 && r.percent(run_.settings.wild ? 70 : 40);
  buffer<word> b = device_.handle().alloc<word>(n, {.sealable = sealable});
  const auto& [owner, begin, bytes] = b.memory();
  run_.record.note("allocate", n, owner->address != 0);
  if (owner->address == 0) return;
  log_.for_each_open([&, from = begin, size = bytes](const client_request& q) {
    if (q.ticket == 0 || q.answered || !q.answer || q.answer->done()) return;
    // A download may have ended while its data are not copied to their place yet.
    if (q.kind == request_kind::download && (q.finished_by != nullptr || q.generation != device_.generation())) return;
    for (const client_request::place& p : q.memory)
      if (p.address < from + size && from < p.address + p.bytes)
        run_.violated("memory was reused while a request needs it: " + q.name());
  });
  const client_buffer& made = buffers_.add(std::move(b), device_.generation(), sealable);
  if (!sending_ && r.percent(50)) upload_all(made, r);  // otherwise its content is unknown
}

void clients::drop_buffer(random_bits& r) {
  if (buffers_.size() == 0) return;
  run_.record.note("drop");
  buffers_.drop_any(r);
}

void clients::cancel(random_bits& r) {
  std::vector<client_request*> open;
  log_.for_each_open([&open](client_request& q) {
    if (q.answer && !q.answered && q.kind < request_kind::seal) open.push_back(&q);
  });
  if (open.empty()) return;
  client_request& q = *open[r.below(open.size())];
  run_.record.note("cancel", q.number);
  q.cancelled = true;
  q.answer->cancel();
  device_.core().completion.drive();
  if (!device_.cancels_at_once(q) || q.answered || q.answer->done()) return;
  run_.violated(q.name() + " is not answered although it was cancelled before it started");
}

void clients::seal_or_unseal(random_bits& r) {
  const client_buffer* const b = buffers_.any_sealable(r);
  if (b == nullptr) return;
  const bool open = b->handle.memory().owner->seal.load() == seal_state::open;
  if (!open && r.percent(60)) return;
  sending_ = true;
  client_request& q = log_.begin(open ? request_kind::seal : request_kind::unseal);
  model_buffer::sealing& s = b->model->seal;
  q.will_read(*b, b->model->size());
  // Neither can be cancelled, so their answers have no ticket.
  const std::uint64_t before = device_.core().channel.newest_ticket();
  pending<void> answer = open ? seal(device_.handle(), b->handle) : unseal(device_.handle(), b->handle);
  const std::uint64_t newest = device_.core().channel.newest_ticket();
  const std::uint64_t ticket = newest != before ? newest : 0;
  ++s.under_way;
  if (open || ticket != 0) q.param = ++s.changes;
  if (!open && ticket != 0) {
    s.done = false;
    q.will_write(*b, b->model->size());
  }
  submission_.sent(q, std::move(answer), ticket, r);
  sending_ = false;
  if (!open && r.percent(50)) upload_all(*b, r);
}

void clients::upload_all(const client_buffer& to, random_bits& r) {
  sending_ = true;
  upload(log_.begin(request_kind::upload), to, {}, r);
  sending_ = false;
}

void clients::upload(client_request& q, const client_buffer& to, const call_options& o, random_bits& r) {
  for (std::uint32_t i = 0; i < to.size(); ++i)
    q.data.push_back(run_.settings.repetitive ? r.below(2) : static_cast<word>(r.next()));
  q.will_write(to, to.size());
  const staging_sizes& s = run_.settings.staging;
  if (q.data.size() * sizeof(word) <= std::max(s.one_request, s.chunk * s.most_chunks))
    return submission_.sent(q, device_.handle().upload(to.handle, q.data, o), r);
  // The data need more chunks than there are, so the call blocks until the worker has read some.
  calls_.start(&q, [this, &q, to = to.handle, o, r]() mutable {
    pending<void> answer = device_.handle().upload(to, q.data, o);
    if (!q.answer) submission_.sent(q, std::move(answer), r);
  });
}

void clients::block_in_call(pending_core& answer, const std::function<bool()>& ready) {
  if (client_request* const q = calls_.current_request(); q != nullptr && !q->answer)
    submission_.sent_by_blocked_call(*q, answer);
  calls_.block(answer, ready);
}

void clients::send(random_bits& r) {
  if (buffers_.size() < 2) return allocate(r);
  sending_ = true;
  if (run_.settings.repetitive && r.percent(90))
    send_repeated(r);
  else
    send_anything(r);
  sending_ = false;
}

void clients::send_after(const client_request& answered) {
  random_bits next = run_.random(stream::follow_up, answered.number);
  if (next.percent(20) && !run_.calm && !sending_) send(next);
}

call_options clients::choose_options(client_request& q, random_bits& r) const {
  call_options o;
  if (r.percent(6)) {
    const std::uint32_t timeout_ns = r.below(3'000'000);
    o.timeout = time_span(std::chrono::nanoseconds(timeout_ns));
    q.deadline = device_.loop().time + timeout_ns;
  }
  o.coalesce = r.percent(80);
  if (r.percent(25)) o.priority = r.percent(50) ? priority::high : priority::low;
  if (r.percent(run_.settings.sequences ? 60 : 15)) o.retries = static_cast<std::uint8_t>(q.retries = r.between(1, 2));
  if (r.percent(3)) {
    o.run_timeout = time_span(std::chrono::milliseconds(r.between(1, 20)));
    q.has_run_timeout = true;
  }
  if (run_.settings.deadly && r.percent(run_.settings.sequences ? 20 : 40)) {
    q.deadly_starts = r.between(1, 3);
    o.retries = static_cast<std::uint8_t>(q.retries = r.below(3));
  }
  if (q.kind == request_kind::ping || q.kind == request_kind::fence) {  // which take no options
    q.deadly_starts = 0;
    q.deadline = INT64_MAX;
    q.retries = 0;
    q.has_run_timeout = false;
  }
  return o;
}

}  // namespace troupe::simulation

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// What clients do: all through the public handle of the device.
#include <algorithm>
#include <troupe/device/sealing.hpp>

#include "requests.hpp"
#include "simulation.hpp"

namespace troupe::simulation {
namespace {

constexpr std::uint64_t follow_up_stream = 5ull << 40;
constexpr std::uint32_t most_words = 8;

}  // namespace

void simulation::client_acts(random_bits& r) {
  const std::uint32_t roll = r.below(1000);
  if (roll < 120 || buffers_.size() < 2) return alloc(r);
  if (roll < 180) return let_go(r);
  if (roll < 270) return cancel(r);
  if (roll > (wild_ ? 800 : 900)) return seal_or_unseal(r);
  if (roll < 280) return void(gpu_->trim());
  if (roll < 290) return void(gpu_->statistics());
  if (roll < 320 && gave_up() && !closing_) {
    record.note("reset");
    (void)gpu_->reset().then([gpu = *gpu_](const result<void>&) { (void)gpu.statistics(); });
    return;
  }
  if (roll < 324) {
    closing_ = true;
    const bool at_once = r.percent(50);
    closing_now_ |= at_once;
    record.note(at_once ? "close now" : "close");
    (void)(at_once ? gpu_->close_now() : gpu_->close());
    return;
  }
  send(r);
}

void simulation::alloc(random_bits& r) {
  if (buffers_.size() >= 8) return let_go(r);
  const std::uint32_t n = transfers_ ? r.between(6, 2 * most_words) : r.between(1, most_words);
  const bool sealable = options_.memory_limit > 256 * 16 && r.percent(wild_ ? 70 : 40);
  buffer<word> b = gpu_->alloc<word>(n, {.sealable = sealable});
  const auto& [owner, begin, bytes] = b.memory();
  record.note("alloc", n, owner->address != 0);
  if (owner->address == 0) return;
  for (std::size_t i = first_open_; i < requests_.size(); ++i) {
    const request& q = requests_[i];
    if (q.ticket == 0 || q.called || !q.answer || q.answer->done()) continue;
    // It may have ended, and its data not have been copied to their place yet.
    if (q.what == kind::download && (q.finished != nullptr || q.generation != core_->memory.generation())) continue;
    for (const auto& [from, size] : q.memory)
      if (from < begin + bytes && begin < from + size)
        violated("memory was given away while a request needs it: request " + std::to_string(q.number));
  }
  models_.push_back(std::make_shared<model_buffer>(n, core_->memory.generation()));
  models_.back()->seal.possible = sealable;
  buffers_.push_back({std::move(b), models_.back(), 0});
  if (!sending_ && r.percent(50)) upload(buffers_.back(), r);  // or nobody knows what is there
}

void simulation::upload(const held& to, random_bits& r) {
  sending_ = true;
  upload(begin(kind::upload), to, {}, r);
  sending_ = false;
}

void simulation::upload(request& q, const held& to, const call_options& o, random_bits& r) {
  const auto n = static_cast<std::uint32_t>(to.handle.size().value());
  for (std::uint32_t i = 0; i < n; ++i) q.data.push_back(repetitive_ ? r.below(2) : static_cast<word>(r.next()));
  writes(q, to, n);
  const staging_sizes& s = core_->staging;
  if (n * sizeof(word) > std::max(s.one_request, s.chunk * s.most_chunks)) return upload_in_parts(q, to, o, r);
  sent(q, gpu_->upload(to.handle, q.data, o), r);
}

// Its data go through fewer chunks than there are: the caller waits for the worker.
void simulation::upload_in_parts(request& q, const held& to, const call_options& o, random_bits& r) {
  in_parts(&q, [this, &q, to = to.handle, o, r]() mutable {
    pending<void> answer = gpu_->upload(to, q.data, o);
    if (!q.answer) sent(q, std::move(answer), r);
  });
}

void simulation::in_parts(request* of, std::function<void()> call) {
  uploader& u = uploaders_.emplace_back(uploader{of});
  u.thread = std::make_unique<client_thread>(std::move(call));
  go_on(u);
}

void simulation::go_on(uploader& u) {
  uploader* const outer = std::exchange(uploading_, &u);
  u.thread->go_on();
  uploading_ = outer;
}

bool simulation::uploaders_act(random_bits& r) {
  std::erase_if(uploaders_, [](const uploader& u) { return u.thread->ended(); });
  std::vector<uploader*> able;
  for (uploader& u : uploaders_)
    if (u.answer->done() || (*u.ready)()) able.push_back(&u);
  if (able.empty()) return false;
  go_on(*able[r.below(able.size())]);
  return true;
}

// In the middle of a call: others go on, and hear of what was sent from here.
void simulation::client_waits(pending_core& of, const std::function<bool()>& ready) {
  uploader& me = *uploading_;
  if (me.of != nullptr && !me.of->answer) {
    request& q = *me.of;
    q.answer = ref<pending_core>::share(&of);
    q.ticket = static_cast<detail::asked<void>&>(of).link.ticket;
    q.take = [](pending_core& core, request& by) { take(static_cast<pending_state<void>&>(core).take(), by); };
    after_sending(q);
  }
  me.ready = &ready;
  me.answer = &of;
  me.thread->wait();
}

void simulation::let_go(random_bits& r) {
  if (buffers_.empty()) return;
  record.note("let go");
  buffers_.erase(buffers_.begin() + r.below(buffers_.size()));
}

void simulation::cancel(random_bits& r) {
  std::vector<request*> open;
  for (std::size_t i = first_open_; i < requests_.size(); ++i)
    if (requests_[i].answer && !requests_[i].called && requests_[i].what < kind::seal) open.push_back(&requests_[i]);
  if (open.empty()) return;
  request& q = *open[r.below(open.size())];
  record.note("cancel", q.number);
  q.cancelled = true;
  q.answer->cancel();
  core_->answers.drive();
  if (!cancellable(q) || q.called || q.answer->done()) return;
  violated("request " + std::to_string(q.number) + " is not answered although it was cancelled before it started");
}

// Nobody runs it, and nobody has written what cannot be. A sync waits for downloads before it.
bool simulation::cancellable(const request& q) const {
  const bool runs = q.started != nullptr && q.started_generation == core_->memory.generation();
  return !runs && !q.suspect && !(shown_ != nullptr && shown_->dishonest) && q.what != kind::fence;
}

// All of a buffer, or a part of it.
simulation::held simulation::pick(random_bits& r) const {
  const held& h = buffers_[r.below(buffers_.size())];
  if (r.percent(60)) return h;
  const auto size = static_cast<std::uint32_t>(h.handle.size().value());
  const std::uint32_t first = r.below(size), count = r.between(1, size - first);
  return {h.handle.slice(first, count), h.model, h.first + first};
}

simulation::request& simulation::begin(kind what) {
  request& q = requests_.emplace_back();
  q.what = what;
  q.number = ++numbers_;
  q.generation = generation_;
  return q;
}

void simulation::reads(request& q, const held& h, std::uint32_t count) {
  q.reads.push_back({h.model, h.first, count});
  q.memory.emplace_back(h.handle.memory().address, count * sizeof(word));
}

void simulation::writes(request& q, const held& h, std::uint32_t count) {
  const bool closed = h.handle.memory().owner->seal.load() != seal_state::open;
  const model_buffer::sealing& s = h.model->seal;
  if (q.what != kind::unseal && (s.under_way != 0 ? closed : s.done)) {
    q.forbidden = true;
    q.forbidden_place = h;
    q.forbidden_count = count;
  } else {
    will_write(q, h, count);
  }
}

void simulation::will_write(request& q, const held& h, std::uint32_t count) {
  h.model->expect(q.number, h.first, count);
  q.writes = {h.model, h.first, count};
  q.memory.emplace_back(h.handle.memory().address, count * sizeof(word));
}

template <class T>
void simulation::take(result<T> answer, request& q) {
  if (q.called) return;
  q.called = true;
  q.how = answer ? outcome::fine : outcome::failed;
  if (!answer) {
    q.why = answer.error();
  } else if constexpr (std::is_same_v<T, std::uint64_t>) {
    q.reply = *answer;
  } else if constexpr (std::is_same_v<T, std::vector<word>>) {
    q.downloaded = std::move(*answer);
  }
}

template <class T>
void simulation::sent(request& q, pending<T> p, random_bits& r) {
  const std::uint64_t ticket = static_cast<detail::asked<T>*>(p.state().get())->link.ticket;
  sent(q, std::move(p), ticket, r);
}

template <class T>
void simulation::sent(request& q, pending<T> p, std::uint64_t ticket, random_bits& r) {
  q.answer = ref<pending_core>::share(p.state().get());
  q.ticket = ticket;
  q.sent_ns = loop_->time;
  q.take = [](pending_core& core, request& of) { take(static_cast<pending_state<T>&>(core).take(), of); };
  after_sending(q);
  if (!r.percent(25)) return;
  q.continued = true;
  (void)std::move(p).then([this, &q](result<T> answer) {
    if (q.called) violated("a request was answered twice");
    take(std::move(answer), q);
    // A client that has an answer asks for the next thing, wherever that is.
    if (random_bits next(seed_, follow_up_stream + q.number); next.percent(20) && !calm_ && !sending_) send(next);
  });
}

template <class R>
void simulation::ask_or_tell(request& q, const R& what, const call_options& o, random_bits& r) {
  if (!r.percent(8)) return sent(q, gpu_->ask(what, o), r);
  const accepted s = gpu_->tell(what, o);
  q.ticket = s.ticket();
  after_sending(q);
  if (q.writes) q.writes->of->settle(q.number, s ? model_buffer::content::doubtful : model_buffer::content::lost);
}

void simulation::after_sending(request& q) {
  record.note(q.ticket != 0 ? "sent" : "refused", q.number, static_cast<std::uint64_t>(q.what));
  if (q.ticket != 0) by_ticket_[q.ticket] = &q;
  if (const auto place = std::exchange(q.forbidden_place, std::nullopt); place && q.ticket != 0) {
    if (place->handle.memory().owner->seal.load() != seal_state::open)
      violated("a request was accepted although it writes what is sealed");
    q.forbidden = false;  // the seal has failed, which became known while this was sent
    will_write(q, *place, q.forbidden_count);
  }
  if (q.ticket != 0 && q.came_too_late) violated("a request was accepted although an input is lost");
}

void simulation::seal_or_unseal(random_bits& r) {
  std::vector<const held*> able;
  for (const held& h : buffers_)
    if (h.model->seal.possible) able.push_back(&h);
  if (able.empty()) return;
  const held& h = *able[r.below(able.size())];
  const bool open = h.handle.memory().owner->seal.load() == seal_state::open;
  if (!open && r.percent(60)) return;
  sending_ = true;
  request& q = begin(open ? kind::seal : kind::unseal);
  model_buffer::sealing& s = h.model->seal;
  reads(q, h, h.model->size());
  q.came_too_late = misses_input(q);
  // Neither can be cancelled, so nobody is told their place.
  const std::uint64_t before = core_->channel.newest_ticket();
  pending<void> answer = open ? seal(*gpu_, h.handle) : unseal(*gpu_, h.handle);
  const std::uint64_t ticket = core_->channel.newest_ticket() != before ? core_->channel.newest_ticket() : 0;
  ++s.under_way;
  if (open || ticket != 0) q.param = ++s.changes;
  if (!open && ticket != 0) {
    s.done = false;
    writes(q, h, h.model->size());
  }
  sent(q, std::move(answer), ticket, r);
  sending_ = false;
  if (!open && r.percent(50)) upload(h, r);
}

// A request that is sent while another is being sent would come before or after it as it happens.
void simulation::send(random_bits& r) {
  if (buffers_.size() < 2) return alloc(r);
  sending_ = true;
  if (repetitive_ && r.percent(90))
    serve_a_client(r);
  else
    send_something(r);
  sending_ = false;
}

// Uploads one of two things, computes with it, and looks at what comes of it, which kills whenever it is one of them.
void simulation::serve_a_client(random_bits& r) {
  const held h = buffers_[r.below(buffers_.size())];
  const bool bad = r.percent(50), indirect = r.percent(50);
  {
    request& q = begin(kind::fill);
    q.param = bad ? 13 : 7;
    writes(q, h, h.model->size());
    sent(q, gpu_->fill(h.handle, q.param), r);
  }
  if (indirect) {
    request& q = begin(kind::add);
    q.param = 2;
    reads(q, h, h.model->size());
    q.came_too_late = misses_input(q);
    writes(q, h, h.model->size());
    sent(q, gpu_->ask(simulated::add{.x = h.handle, .n = h.handle.size(), .by = q.param}), r);
  }
  request& q = begin(kind::look);
  q.deadly = bad ? 9 : 0;
  reads(q, h, h.model->size());
  q.came_too_late = misses_input(q);
  sent(q, gpu_->ask(simulated::look{.a = h.handle, .n = h.handle.size()}), r);
}

// As a client may choose them for the request.
call_options simulation::choose_options(request& q, random_bits& r) {
  call_options o;
  if (r.percent(6)) {
    const std::uint32_t patience = r.below(3'000'000);
    o.timeout = time_span(std::chrono::nanoseconds(patience));
    q.deadline = loop_->time + patience;
  }
  o.coalesce = r.percent(80);
  if (r.percent(25)) o.priority = r.percent(50) ? priority::high : priority::low;
  if (r.percent(15)) o.retries = static_cast<std::uint8_t>(q.retries = r.between(1, 2));
  if (r.percent(3)) {
    o.run_timeout = time_span(std::chrono::milliseconds(r.between(1, 20)));
    q.limited = true;
  }
  if (deadly_ && r.percent(40)) {
    q.deadly = r.between(1, 3);
    o.retries = static_cast<std::uint8_t>(q.retries = r.below(3));
  }
  if (q.what == kind::ping || q.what == kind::fence) {  // which take no options
    q.deadly = 0;
    q.deadline = INT64_MAX;
    q.retries = 0;
    q.limited = false;
  }
  return o;
}

void simulation::send_something(random_bits& r) {
  auto what = static_cast<kind>(r.below(11));
  if (transfers_ && r.percent(60)) what = r.percent(60) ? kind::upload : kind::download;
  if (deadly_ && r.percent(25)) what = kind::add;  // which reads what it writes
  request& q = begin(what);
  const call_options o = choose_options(q, r);
  q.param = static_cast<word>(r.next());
  const auto size = [](const held& h) { return static_cast<std::uint32_t>(h.handle.size().value()); };
  held x = pick(r), y = pick(r);
  while (y.model == x.model) y = pick(r);
  switch (q.what) {
    case kind::fill:
      writes(q, x, size(x));
      return sent(q, gpu_->fill(x.handle, q.param, o), r);
    case kind::upload:
      return upload(q, x, o, r);
    case kind::download:
      reads(q, x, size(x));
      q.came_too_late = misses_input(q);
      return sent(q, gpu_->download(x.handle, o), r);
    case kind::copy:
      if (size(x) > size(y)) std::swap(x, y);
      reads(q, x, size(x));
      q.came_too_late = misses_input(q);
      writes(q, y, size(x));
      return sent(q, gpu_->copy(y.handle, x.handle, o), r);
    case kind::add:
      reads(q, x, size(x));
      q.came_too_late = misses_input(q);
      writes(q, x, size(x));
      return ask_or_tell(q, simulated::add{.x = x.handle, .n = x.handle.size(), .by = q.param}, o, r);
    case kind::combine: {
      held z = pick(r);
      while (z.model == y.model) z = pick(r);
      const std::uint32_t n = std::min({size(x), size(y), size(z)});
      reads(q, x, n);
      reads(q, z, n);
      q.came_too_late = misses_input(q);
      writes(q, y, n);
      return ask_or_tell(q, simulated::combine{.a = x.handle, .b = z.handle, .y = y.handle, .n = n}, o, r);
    }
    case kind::gather: {
      std::vector<in<word>> parts;
      for (std::uint32_t n = r.percent(20) ? r.between(12, 20) : r.between(1, 3); n > 0; --n) {
        held p = pick(r);
        while (p.model == y.model) p = pick(r);
        reads(q, p, 1);
        parts.push_back(p.handle);
      }
      q.came_too_late = misses_input(q);
      writes(q, y, 1);
      return ask_or_tell(q, simulated::gather{.parts = std::move(parts), .y = y.handle}, o, r);
    }
    case kind::look:
      reads(q, x, size(x));
      q.came_too_late = misses_input(q);
      return ask_or_tell(q, simulated::look{.a = x.handle, .n = x.handle.size()}, o, r);
    case kind::spoil:
      writes(q, x, size(x));
      return ask_or_tell(q, simulated::spoil{.y = x.handle, .n = x.handle.size()}, o, r);
    case kind::ping:
      return sent(q, gpu_->ping(q.param), r);
    case kind::fence:
      return sent(q, gpu_->sync(), r);
    case kind::seal:
    case kind::unseal:
      return;
  }
}

}  // namespace troupe::simulation

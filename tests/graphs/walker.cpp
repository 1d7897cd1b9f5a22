// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "walker.hpp"

#include <chrono>
#include <cstring>
#include <troupe/device/matrix_copy.hpp>
#include <troupe/memory/requests.hpp>

#include "engine/requests.hpp"

namespace graph_test {

using namespace troupe;

namespace {

// Calls `f` with an integer of this many bytes.
template <class F>
void by_element(std::uint64_t bytes, F&& f) {
  switch (bytes) {
    case 1:
      return f(std::uint8_t{});
    case 2:
      return f(std::uint16_t{});
    case 4:
      return f(std::uint32_t{});
    default:
      return f(std::uint64_t{});
  }
}

}  // namespace

held_buffer held_buffer::make(const device& gpu, std::uint64_t size, bool host) {
  held_buffer b;
  if (host)
    b.host = gpu.alloc_host<std::byte>(size), b.bytes = buffer<std::byte>(b.host.memory());
  else
    b.bytes = gpu.alloc<std::byte>(size);
  return b;
}

void walker::walk() {
  rooms_.resize(plan_.steps.size());
  switch (plan_.how) {
    case manner::blocking:
      for (int i; (i = next_wait()) >= 0;) {
        std::visit(
            [&](auto& p) {
              if constexpr (requires { p.get(); }) settle(i, p.get());
            },
            open_[static_cast<std::size_t>(i)]);
      }
      return;
    case manner::coroutine:
      (void)start(walk_as_coroutine(this)).get();
      return;
    case manner::callbacks: {
      auto end = std::make_shared<promise<void>>();
      pending<void> all = end->get_pending();
      walk_by_callbacks(std::move(end));
      (void)all.get();
      return;
    }
  }
}

task<void> walker::walk_as_coroutine(walker* self) {
  for (int i; (i = self->next_wait()) >= 0;) {
    question& q = self->open_[static_cast<std::size_t>(i)];
    if (auto* nothing = std::get_if<pending<void>>(&q))
      self->settle(i, co_await std::move(*nothing));
    else if (auto* number = std::get_if<pending<std::uint64_t>>(&q))
      self->settle(i, co_await std::move(*number));
    else if (auto* data = std::get_if<pending<bytes>>(&q))
      self->settle(i, co_await std::move(*data));
  }
}

void walker::walk_by_callbacks(std::shared_ptr<promise<void>> end) {
  const int i = next_wait();
  if (i < 0) return void(end->set(result<void>()));
  std::visit(
      [&](auto& p) {
        if constexpr (requires { p.get(); }) {
          auto taken = std::move(p);
          std::move(taken)
              .then([this, i, end]<class T>(result<T> answer) {
                settle(i, std::move(answer));
                walk_by_callbacks(end);
              })
              .detach();
        }
      },
      open_[static_cast<std::size_t>(i)]);
}

// Advances to the next answer that must be awaited, and returns its step; -1 if all is done.
int walker::next_wait() {
  const auto is_open = [this](int i) { return open_[static_cast<std::size_t>(i)].index() != 0; };
  while (at_ < static_cast<int>(plan_.steps.size())) {
    const int i = at_++;
    const step& s = plan_.steps[static_cast<std::size_t>(i)];
    if (s.what != kind::await)
      perform(i);
    else if (is_open(s.target))
      return s.target;
  }
  for (; left_ < static_cast<int>(plan_.steps.size()); ++left_)
    if (is_open(left_)) return left_;
  return -1;
}

template <class T>
void walker::store(outcome& o, const result<T>& answer) {
  o.answered = true;
  if (!answer)
    o.why = answer.error();
  else if constexpr (std::is_same_v<T, std::uint64_t>)
    o.reply = *answer;
  else if constexpr (std::is_same_v<T, bytes>)
    o.data = *answer;
}

template <class T>
void walker::settle(int i, result<T> answer) {
  const auto at = static_cast<std::size_t>(i);
  open_[at] = std::monostate();
  outcome& o = outcomes_[at];
  if (plan_.steps[at].how != sent::call || o.ticket == 0) store(o, answer);
  if (o.answered && !o.why && !rooms_[at].empty()) o.data = std::move(rooms_[at]);
}

template <class T>
void walker::take(int i, pending<T> p) {
  const auto at = static_cast<std::size_t>(i);
  outcome& o = outcomes_[at];
  o.ticket = static_cast<detail::asked<T>&>(*p.state()).link.ticket;
  o.after = clock_.fetch_add(1);
  const sent how = plan_.steps[at].how;
  if (o.ticket == 0) return settle(i, p.get());
  if (how == sent::keep) open_[at] = std::move(p);
  if (how == sent::call) open_[at] = std::move(p).then([&o](result<T> answer) { store(o, answer); });
}

void walker::note(int i, const accepted& s) {
  outcome& o = outcomes_[static_cast<std::size_t>(i)];
  o.after = clock_.fetch_add(1);
  o.ticket = s.ticket();
  if (!s) o.answered = true, o.why = s.error();
}

call_options walker::options(const step& s) const {
  const priority urgency = s.number % 7 == 0 ? priority::high : s.number % 11 == 0 ? priority::low : priority::normal;
  if (!s.timed) return {.priority = urgency};
  return {.timeout = std::chrono::microseconds(s.value % 300), .priority = urgency};
}

template <class R>
void walker::send(int i, const R& r) {
  const step& s = plan_.steps[static_cast<std::size_t>(i)];
  if (s.how == sent::tell)
    note(i, gpu_.tell(r, options(s)));
  else
    take(i, gpu_.ask(r, options(s)));
}

// The same place can be reached in several ways: slices of slices, slices of reinterpretations, reinterpreted slices.
template <class T>
buffer<T> walker::view(const place& p) const {
  const buffer<std::byte>& whole = held(p).bytes;
  if (p.first % 3 == 0 && p.first % sizeof(T) == 0 && whole.bytes() % sizeof(T) == 0)
    return whole.as<T>().slice(p.first / sizeof(T), p.bytes / sizeof(T));
  return whole.slice(p.first / 2).slice(p.first - p.first / 2, p.bytes).template as<T>();
}

void walker::perform_upload(int i, const step& s) {
  const bytes data = pattern(s.value, s.b.bytes);
  const auto as = [&]<class T>(T) {
    std::vector<T> typed(data.size() / sizeof(T));
    std::memcpy(typed.data(), data.data(), data.size());
    // Sometimes writes to the front of a larger buffer.
    const bool more = s.value % 4 == 0 && s.b.first + s.b.bytes + sizeof(T) <= held(s.b).bytes.bytes();
    place to = s.b;
    to.bytes += more ? sizeof(T) : 0;
    take(i, gpu_.upload(view<T>(to), typed, options(s)));
  };
  by_element(s.element, as);
}

void walker::perform_download(int i, const step& s) {
  const auto at = static_cast<std::size_t>(i);
  if (s.value % 3 == 0) return take(i, gpu_.download(view<>(s.a), options(s)));
  rooms_[at].resize(s.a.bytes);
  if (s.element == 4 && s.value % 3 == 1) {
    take(i, gpu_.download(view<std::uint32_t>(s.a),
                          std::span(reinterpret_cast<std::uint32_t*>(rooms_[at].data()), s.a.bytes / 4), options(s)));
  } else {
    take(i, gpu_.download(view<>(s.a), rooms_[at], options(s)));
  }
}

void walker::perform_copy(int i, const step& s) {
  const bool from = is_host(s.a), to = is_host(s.b);
  if (s.how == sent::tell)
    return send(
        i,
        memory::copy{.source = in<std::byte>(view<>(s.a)), .target = out<std::byte>(view<>(s.b)), .bytes = s.b.bytes});
  if (from == to) return take(i, gpu_.copy(view<>(s.b), view<>(s.a), options(s)));
  if (from) return take(i, gpu_.upload(view<>(s.b), held(s.a).host.slice(s.a.first, s.a.bytes), options(s)));
  take(i, gpu_.download(view<>(s.a), held(s.b).host.slice(s.b.first, s.b.bytes), options(s)));
}

void walker::perform_fail(int i, const step& s) {
  const auto as = [&]<class T>(T) {
    send(i, flow::fail<T>{.x = view<T>(s.a),
                          .y = view<T>(s.b),
                          .z = view<T>(s.c),
                          .step = s.number,
                          .throws = s.value % 2 == 1,
                          .work_us = s.work_us});
  };
  by_element(s.element, as);
}

void walker::look(int i, const step& s) {
  outcome& o = outcomes_[static_cast<std::size_t>(i)];
  const outcome& all_done = outcomes_[static_cast<std::size_t>(i - 2)];  // the answer of sync
  if (all_done.why) return;
  o.answered = true;
  const buffer<std::byte> b = view<>(s.a);
  o.why = b.cause();
  o.reply = b.readable();
  if (o.reply == 0 || !is_host(s.a)) return;
  const auto seen = held(s.a).host.slice(s.a.first, s.a.bytes).span();
  o.data.assign(seen.begin(), seen.end());
}

void walker::perform(int i) {
  const step& s = plan_.steps[static_cast<std::size_t>(i)];
  outcomes_[static_cast<std::size_t>(i)].before = clock_.fetch_add(1);
  switch (s.what) {
    case kind::await:
      return;
    case kind::cancel:
      std::visit(
          [](auto& p) {
            if constexpr (requires { p.cancel(); }) p.cancel();
          },
          open_[static_cast<std::size_t>(s.target)]);
      return;
    case kind::renew:
      buffers_[static_cast<std::size_t>(s.b.buffer)] = {};  // first, so that the memory may be reused at once
      buffers_[static_cast<std::size_t>(s.b.buffer)] = held_buffer::make(gpu_, s.b.bytes, s.host);
      return;
    case kind::look:
      return look(i, s);
    case kind::sync:
      return take(i, gpu_.sync());
    case kind::ping:
      return take(i, gpu_.ping(s.value));
    case kind::upload:
      return perform_upload(i, s);
    case kind::download:
      return perform_download(i, s);
    case kind::copy:
      return perform_copy(i, s);
    case kind::fail:
      return perform_fail(i, s);
    case kind::copy_2d: {
      const extent unit = s.element;
      return take(i, copy_2d(gpu_,
                             matrix_copy{.to = view<>(s.b),
                                         .to_ld = unit * s.to_ld,
                                         .from = view<>(s.a),
                                         .from_ld = unit * s.from_ld,
                                         .rows = unit * s.rows,
                                         .columns = s.columns},
                             options(s)));
    }
    case kind::fill: {
      const bytes one = pattern(s.value, s.element);
      const auto as = [&]<class T>(T value) {
        std::memcpy(&value, one.data(), sizeof value);
        take(i, gpu_.fill(view<T>(s.b), value, options(s)));
      };
      if (s.element == 16) return as(std::array<std::uint64_t, 2>{});
      return by_element(s.element, as);
    }
    default:
      return perform_flow(i, s);
  }
}

// Sends the requests of flow, and those that cannot run.
void walker::perform_flow(int i, const step& s) {
  const auto words = [](const place& p) { return p.bytes / 4; };
  const auto factor = static_cast<std::uint32_t>(s.value | 1);
  switch (s.what) {
    case kind::affine: {
      const auto as = [&]<class T>(T) {
        send(i, flow::affine<T>{.x = view<T>(s.b),
                                .n = s.rows,
                                .inc = s.to_ld,
                                .a = static_cast<T>(factor),
                                .b = static_cast<T>(s.value >> 32),
                                .work_us = s.work_us});
      };
      return by_element(s.element, as);
    }
    case kind::add:
      return send(
          i, flow::add{
                 .x = view<std::uint32_t>(s.a), .y = view<std::uint32_t>(s.b), .n = words(s.b), .work_us = s.work_us});
    case kind::mix:
      return send(i, flow::mix{.x = view<std::uint32_t>(s.a),
                               .y = view<std::uint32_t>(s.c),
                               .z = view<std::uint32_t>(s.b),
                               .n = words(s.b),
                               .salt = factor,
                               .work_us = s.work_us});
    case kind::scan:
      return send(i, flow::scan{.x = view<std::uint32_t>(s.b), .n = words(s.b), .work_us = s.work_us});
    case kind::slide:
      return send(i, flow::slide{.x = view<>(s.a), .y = view<>(s.b), .n = s.b.bytes, .work_us = s.work_us});
    case kind::hash:
      return send(i, flow::hash{.x = view<>(s.a), .n = s.a.bytes, .work_us = s.work_us});
    case kind::gather: {
      random r(s.value);
      std::vector<std::uint32_t> index(words(s.b));
      for (std::uint32_t& k : index) k = static_cast<std::uint32_t>(r.below(words(s.a)));
      return send(i, flow::gather{.x = view<std::uint32_t>(s.a),
                                  .y = view<std::uint32_t>(s.b),
                                  .index = std::move(index),
                                  .work_us = s.work_us});
    }
    case kind::tile:
      return send(i, flow::tile{.a = view<std::uint32_t>(s.a),
                                .c = view<std::uint32_t>(s.b),
                                .rows = s.rows,
                                .columns = s.columns,
                                .lda = s.from_ld,
                                .ldc = s.to_ld,
                                .replaces = s.value % 2 == 1,
                                .work_us = s.work_us});
    case kind::unknown:
      if (s.element == 1) return send(i, flow::unknown{.x = view<>(s.a), .y = view<>(s.b)});
      return send(i, flow::elsewhere{.x = view<>(s.a), .y = view<>(s.b)});
    case kind::outside: {
      const buffer<std::byte> wrong = held(s.a).bytes.slice(s.a.first, held(s.a).bytes.size() + 1);
      return send(
          i, memory::copy{.source = in<std::byte>(wrong), .target = out<std::byte>(view<>(s.b)), .bytes = s.b.bytes});
    }
    default:
      return;
  }
}

}  // namespace graph_test

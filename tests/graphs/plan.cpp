// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Makes random graphs.
#include <algorithm>
#include <array>

#include "step.hpp"

namespace graph_test {
namespace {

bool meet(const place& x, const place& y) {
  return x.buffer == y.buffer && x.first < y.first + y.bytes && y.first < x.first + x.bytes;
}

// The steps of one thread.
class planner {
 public:
  planner(random& r, graph_plan& g, int self) : r_(r), plan_(g), self_(self) {
    for (std::size_t i = 0; i < g.buffers.size(); ++i) {
      const int owner = g.buffers[i].owner;
      if (owner == self || owner < 0) readable_.push_back(static_cast<int>(i));
      if (owner == self || owner == -1) writable_.push_back(static_cast<int>(i));
    }
    fails_ = r.chance(60) ? static_cast<unsigned>(r.between(1, 8)) : 0;
    hurries_ = r.chance(35) ? static_cast<unsigned>(r.between(1, 12)) : 0;
    slow_ = r.chance(50) ? static_cast<unsigned>(r.between(3, 30)) : 0;
  }

  std::vector<step> steps(std::size_t count) {
    while (out_.size() < count) add();
    return std::move(out_);
  }

 private:
  std::uint64_t size(int buffer) const { return plan_.buffers[static_cast<std::size_t>(buffer)].bytes; }
  int pick(const std::vector<int>& from) { return from[r_.below(from.size())]; }

  // Returns a random part whose place and size are multiples of `unit`.
  place part(int buffer, std::uint64_t unit, std::uint64_t most = UINT64_MAX) {
    const std::uint64_t units = size(buffer) / unit;
    std::uint64_t n = r_.chance(30)   ? units
                      : r_.chance(50) ? r_.between(1, std::min<std::uint64_t>(units, 64))
                                      : r_.between(1, units);
    n = std::max<std::uint64_t>(1, std::min(n, most / unit));
    return {buffer, r_.below(units - n + 1) * unit, n * unit};
  }
  // Returns another place with the size of `like`. If the buffer has fewer bytes, both get that size.
  place as_large(int buffer, place& like, std::uint64_t unit) {
    like.bytes = std::min(like.bytes, size(buffer) / unit * unit);
    return {buffer, r_.below((size(buffer) - like.bytes) / unit + 1) * unit, like.bytes};
  }
  // Returns a part to write and one to read of the same size, usually without overlap.
  void pair(step& s, std::uint64_t unit, bool may_overlap = false) {
    for (int tries = 0; tries < 6; ++tries) {
      s.b = part(pick(writable_), unit);
      s.a = as_large(pick(readable_), s.b, unit);
      if (may_overlap || !meet(s.a, s.b)) return;
    }
  }

  void columns(step& s) {
    s.element = static_cast<std::uint8_t>(s.what == kind::tile ? 4 : 1u << r_.below(4));
    const int to = pick(writable_), from = r_.chance(25) ? to : pick(readable_);
    const auto have_to = static_cast<std::uint32_t>(size(to) / s.element),
               have_from = static_cast<std::uint32_t>(size(from) / s.element);
    const std::uint32_t have = std::min(have_to, have_from);
    s.rows = static_cast<std::uint32_t>(r_.between(1, std::min(have, 48u)));
    const auto ld = [&] { return s.rows + (r_.chance(35) ? 0 : static_cast<std::uint32_t>(r_.below(20))); };
    s.from_ld = ld();
    s.to_ld = from == to && r_.chance(70) ? s.from_ld : ld();
    const std::uint32_t widest = std::max(s.from_ld, s.to_ld);
    s.columns = static_cast<std::uint32_t>(r_.between(1, std::min(60u, 1 + (have - s.rows) / widest)));
    const auto extent = [&](std::uint32_t l) { return (std::uint64_t{s.columns - 1} * l + s.rows) * s.element; };
    const auto put = [&](int buffer, std::uint64_t bytes) {
      return place{buffer, r_.below((size(buffer) - bytes) / s.element + 1) * s.element, bytes};
    };
    s.a = put(from, extent(s.from_ld));
    s.b = put(to, extent(s.to_ld));
  }

  kind random_kind() {
    using enum kind;
    constexpr std::array common{upload, upload, copy,   copy,   copy,   copy_2d, download, fill, fill,
                                affine, affine, affine, add,    add,    add,     mix,      mix,  mix,
                                scan,   slide,  hash,   gather, gather, tile,    tile};
    if (r_.chance(fails_)) return r_.chance(70) ? fail : r_.chance(60) ? unknown : outside;
    if (r_.chance(5)) return r_.chance(30) ? sync : r_.chance(20) ? ping : await;
    if (!plan_.shared && r_.chance(4)) return r_.chance(50) ? renew : look;
    return common[r_.below(common.size())];
  }

  void choose_operands(step& s) {
    switch (s.what) {
      case kind::renew:
      case kind::look:
      case kind::await:
      case kind::sync:
      case kind::ping:
        break;
      case kind::upload:
        s.element = static_cast<std::uint8_t>(1u << r_.below(4));
        s.b = part(pick(writable_), s.element);
        break;
      case kind::copy:
        pair(s, 1);
        break;
      case kind::copy_2d:
      case kind::tile:
        columns(s);
        break;
      case kind::download:
        s.a = part(pick(readable_), s.element = r_.chance(50) ? 4 : 1);
        break;
      case kind::fill:
        s.b = part(pick(writable_), s.element = static_cast<std::uint8_t>(1u << r_.below(5)));
        break;
      case kind::affine: {
        s.element = static_cast<std::uint8_t>(1u << r_.below(4));
        s.b = part(pick(writable_), s.element);
        s.to_ld = r_.chance(60) ? 1 : static_cast<std::uint32_t>(r_.between(2, 5));
        s.rows = static_cast<std::uint32_t>((s.b.bytes / s.element - 1) / s.to_ld + 1);
        s.b.bytes = (std::uint64_t{s.rows - 1} * s.to_ld + 1) * s.element;
        break;
      }
      case kind::scan:
        s.b = part(pick(writable_), s.element = 4);
        break;
      case kind::add:
        pair(s, s.element = 4);
        break;
      case kind::slide:
        pair(s, 1, true);
        break;
      case kind::mix:
        pair(s, s.element = 4);
        for (int tries = 0; tries < 6 && (tries == 0 || meet(s.b, s.c)); ++tries)
          s.c = as_large(pick(readable_), s.b, 4);
        s.a.bytes = s.b.bytes;
        break;
      case kind::hash:
        s.a = part(pick(readable_), 1);
        break;
      case kind::gather:
        s.element = 4;
        s.b = part(pick(writable_), 4, 2048);
        s.a = part(pick(readable_), 4);
        break;
      case kind::fail:
        s.element = static_cast<std::uint8_t>(1u << r_.below(4));
        for (int tries = 0; tries < 8; ++tries) {
          s.a = part(pick(readable_), s.element), s.b = part(pick(writable_), s.element),
          s.c = part(pick(writable_), s.element);
          if (!meet(s.a, s.b) && !meet(s.a, s.c) && !meet(s.b, s.c)) break;
        }
        break;
      case kind::unknown:
        s.element = r_.chance(50) ? 1 : 2;
        [[fallthrough]];
      case kind::outside:
        pair(s, 1);
        break;
      case kind::cancel:
        break;
    }
  }

  void add() {
    step s;
    s.what = random_kind();
    s.value = r_.next();
    s.work_us = r_.chance(slow_) ? static_cast<std::uint32_t>(r_.chance(60) ? r_.below(20) : r_.between(20, 200)) : 0;
    const std::uint64_t way = r_.below(100);
    s.how = way < 45 ? sent::tell : way < 75 ? sent::keep : way < 90 ? sent::call : sent::drop;
    if (r_.chance(hurries_)) {
      s.how = sent::keep;
      s.timed = r_.chance(50);
    }
    if (s.what == kind::renew) return renew(s);
    if (s.what == kind::look) return look(s);
    if (s.what == kind::await) return await();
    choose_operands(s);
    if (fails_ == 0 && overlaps(s)) s.what = kind::fill, s.element = 1;
    push(s);
    if (s.how == sent::keep && r_.chance(3 * hurries_)) cancels_.push_back(static_cast<int>(out_.size() - 1));
    if (!cancels_.empty() && r_.chance(50)) {
      step c;
      c.what = kind::cancel;
      c.target = cancels_.back();
      cancels_.pop_back();
      push(c);
    }
  }

  void push(step s) {
    s.number = std::uint64_t{1000} * static_cast<unsigned>(self_ + 1) + out_.size();
    out_.push_back(s);
  }
  void await() {
    if (out_.empty()) return;
    step s;
    s.what = kind::await;
    s.target = static_cast<int>(r_.chance(50) ? out_.size() - 1 : r_.below(out_.size()));
    push(s);
  }
  void look(step s) {
    step all;
    all.what = kind::sync;
    push(all);
    await_last();
    s.a = part(pick(writable_), 1);
    push(s);
  }
  void await_last() {
    step s;
    s.what = kind::await;
    s.target = static_cast<int>(out_.size()) - 1;
    push(s);
  }
  void renew(step s) {
    s.b.buffer = pick(writable_);
    buffer_plan& b = plan_.buffers[static_cast<std::size_t>(s.b.buffer)];
    if (r_.chance(60)) b.bytes = r_.between(1, 512) * 16;
    b.host = s.host = r_.chance(30);
    s.b.bytes = b.bytes;
    push(s);
    step first;
    first.what = r_.chance(50) ? kind::fill : kind::upload;
    first.value = r_.next();
    first.b = s.b;
    first.how = r_.chance(70) ? sent::drop : sent::keep;
    push(first);
  }

  random& r_;
  graph_plan& plan_;
  int self_;
  std::vector<int> readable_, writable_, cancels_;
  std::vector<step> out_;
  unsigned fails_, hurries_, slow_;
};

std::uint64_t random_size(random& r) {
  const std::uint64_t shape = r.below(100);
  return (shape < 60 ? r.between(4, 256) : shape < 93 ? r.between(256, 3000) : r.between(4200, 40000)) * 16;
}

}  // namespace

graph_plan plan_of(std::uint64_t seed) {
  random r(seed);
  graph_plan g{seed, r.chance(40), {}, {}};
  const int threads = g.shared ? static_cast<int>(r.between(2, 4)) : static_cast<int>(r.between(1, 4));
  const auto buffers = [&](int owner, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) g.buffers.push_back({random_size(r), r.chance(20), owner});
  };
  buffers(-2, r.below(3));
  if (g.shared) buffers(-1, r.between(2, 5));
  for (int t = 0; t < threads; ++t) buffers(t, g.shared ? r.below(2) : r.between(2, 4));
  const std::vector<buffer_plan> at_first = g.buffers;
  for (int t = 0; t < threads; ++t) {
    planner p(r, g, t);
    const auto how = static_cast<manner>(r.below(4) % 3);
    g.threads.push_back({how, p.steps(r.between(10, 30 + 130 / static_cast<std::uint64_t>(threads)))});
  }
  g.buffers = at_first;
  return g;
}

troupe::device_options options_of(std::uint64_t seed) {
  const std::uint64_t set = seed % option_sets;
  constexpr std::array<std::uint64_t, 3> inlined{0, 64 << 10, std::uint64_t{1} << 40};
  random r(set + 77);
  troupe::device_options o;
  o.lanes = static_cast<troupe::lane_policy>(set % 3);
  o.wait = static_cast<troupe::wait_policy>(set / 3 % 3);
  o.isolation = static_cast<enum troupe::isolation>(set / 9 % 2);
  o.inline_bytes = inlined[set / 18];
  o.lane_pool = static_cast<std::uint32_t>(r.between(1, 8));
  o.helpers = static_cast<std::uint32_t>(r.between(1, 4));
  o.mailbox_capacity = r.chance(20) ? 16 : r.chance(30) ? 64 : 1024;
  o.when_full = r.chance(60) ? troupe::when_full::wait : troupe::when_full::refuse;
  o.memory_limit = std::uint64_t{1} << 30;
  o.host_memory_limit = std::uint64_t{1} << 30;
  return o;
}

}  // namespace graph_test

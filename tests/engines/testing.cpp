// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "requests.hpp"

#include <troupe/worker/engine.hpp>

namespace testing_actor {
namespace {

volatile int sink_;

// Not a tail call, so that it really uses the stack.
int overflow(int depth) {  // NOLINT
  volatile char room[4096];
  room[0] = static_cast<char>(depth);
  return depth == 0 ? 0 : overflow(depth + 1) + room[0];
}

std::atomic<std::uint64_t> opened{0};

struct engine {
  explicit engine(const engine_context& c) : context_(c) {}
  static result<std::unique_ptr<engine>> make(const engine_context& c) {
    ++opened;
    return std::make_unique<engine>(c);
  }
  const char* version() const { return "1.0"; }

  static void enter(std::uint32_t* gate, bool for_ever) {
    std::atomic_ref(gate[entered]).store(1);
    while (for_ever || std::atomic_ref(gate[opened]).load() == 0) std::this_thread::yield();
  }
  result<void> run(const hold& r, call&) {
    enter(r.gate.data(), false);
    return {};
  }
  result<void> run(const hold_slowly& r, call&) {
    enter(r.gate.data(), false);
    r.result.data()[0] = 1;
    return {};
  }
  result<void> run(const linger& r, call&) {
    auto* gate = const_cast<std::uint32_t*>(r.gate.data());
    const auto times = std::atomic_ref(gate[entered]).fetch_add(1) + 1;
    while (std::atomic_ref(gate[opened]).load() == 0) std::this_thread::yield();
    r.result.data()[0] = static_cast<float>(times);
    return {};
  }
  result<void> run(const spin& r, call&) {
    enter(r.gate.data(), true);
    return {};
  }
  result<void> run(const nap& r, call&) {
    std::this_thread::sleep_for(std::chrono::microseconds(r.microseconds.value()));
    return {};
  }
  result<void> run(const fail& r, call&) {
    return error(error::details{.reaction = r.how, .domain = "testing", .code = r.code, .text = r.text});
  }
  result<void> run(const say& r, call&) {
    for (std::uint32_t i = 0; i < r.times; ++i) remark(context_, std::string(r.text));
    return {};
  }
  result<std::uint64_t> run(const break_handle& r, call& c) {
    if (!r.breaks) return opened.load();
    c.restart_library();
    return error(reaction::retry_later, "testing", "the handle is broken");
  }
  result<void> run(const break_once& r, call& c) {
    if (std::exchange(r.breaks.data()[0], 0) == 0) {
      r.x.data()[0] += 1;
      return {};
    }
    c.restart_library();
    return error(reaction::retry_later, "testing", "the handle is broken");
  }
  result<void> run(const spoil& r, call&) { return error(reaction::unsupported, "testing", r.text); }
  result<void> run(const throws& r, call&) {
    if (r.what == thrown::number) throw 42;
    throw std::runtime_error("thrown by the engine");
  }
  result<void> run(const crash& r, call&) {
    switch (r.how) {
      case ending::segmentation_fault:
        ::raise(SIGSEGV);
        break;
      case ending::wild_write:
        *reinterpret_cast<volatile int*>(std::uintptr_t{0x1230}) = 1;
        break;
      case ending::stack_overflow:
        sink_ = overflow(1);
        break;
      case ending::abort:
        std::abort();
      case ending::exit:
        ::_exit(7);
    }
    return {};
  }
  result<void> run(const die_with& r, call&) { ::_exit(r.how); }
  result<void> run(const fragile& r, call&) {
    if (r.x.data()[0] < 0) ::_exit(9);
    r.y.data()[0] = std::accumulate(r.x.data(), r.x.data() + r.n.value(), 0.f);
    return {};
  }
  result<void> run(const increment& r, call&) {
    ++served_;
    for (std::int64_t i = 0; i < r.n.value(); ++i) r.x.data()[i] += 1;
    return {};
  }
  result<void> run(const copy& r, call&) {
    std::copy_n(r.source.data(), r.n.value(), r.target.data());
    return {};
  }
  result<std::uint64_t> run(const checksum& r, call&) { return checksum_of(r.text, r.list); }
  result<widest::reply> run(const widest& r, call&) {
    widest::reply out;
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = r.seed + i;
    return out;
  }
  result<std::uint64_t> run(const count&, call&) { return served_.load(); }

  result<std::uint32_t> run(const together& r, call&) {
    r.x.data()[0] += r.by;
    return 1u;
  }
  static std::uint64_t group_of(const together& r) { return r.kind; }
  result<void> run_group(const group<together>& all, call&) {
    if (all[0].kind == 13) return error(reaction::unsupported, "testing", "not together");
    for (std::size_t i = 0; i < all.size(); ++i) {
      const together r = all[i];
      r.x.data()[0] += r.by;
      all.answer(i, static_cast<std::uint32_t>(all.size()));
    }
    return {};
  }
  result<std::uint64_t> run(const sum_of& r, call&) {
    if (!r.blame.empty()) return error(reaction::unsupported, "testing", r.blame);
    float sum = 0;
    for (const auto& part : r.parts) sum += part.data()[0];
    r.target.data()[0] = r.factor.load() * sum;
    return r.parts.size();
  }
  result<bool> run(const fail_late& r, call&) {
    r.target.data()[0] = 1;
    return r.fails;
  }
  result<void> run(const number_all& r, call&) {
    float n = 0;
    for (const auto& t : r.targets) t.data()[0] = n++;
    return {};
  }

  const engine_context context_;
  std::atomic<std::uint64_t> served_{0};
};

}  // namespace
}  // namespace testing_actor

using namespace testing_actor;
TROUPE_ENGINE(engine, "testing", "host", hold, troupe::slow<hold_slowly>, linger, nap, say, break_handle, break_once,
              fail, spoil, throws, crash, die_with, fragile, spin, increment, testing_actor::copy, checksum, widest,
              testing_actor::count, together, sum_of, number_all, fail_late)

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The cost of a tell for its caller. Bursts are sent to a mailbox that never fills while the worker is awake, and only
// the bursts are timed. The raw side passes the same plain struct, without validation or ownership, through a queue for
// one producer and one consumer. The consumer has emptied the queue once before the burst, and runs on the worker's
// core.
#include <sys/syscall.h>
#include <array>
#include <atomic>
#include <bench/device_under_test.hpp>
#include <bench/measures.hpp>
#include <bench/rounds.hpp>
#include <bench/system/allocations.hpp>
#include <bench/system/placement.hpp>
#include <bench/system/system_call_watch.hpp>
#include <thread>
#include <troupe/base/clock.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/blas/blas.hpp>
#include <utility>

namespace troupe::bench {
namespace {

constexpr int burst = 512;
constexpr std::uint32_t room = 4096;
constexpr std::int64_t n = 16;

struct plain_gemm {
  std::uint64_t a, b, c;
  std::int64_t m, n, k, lda, ldb, ldc;
  std::uint8_t trans_a, trans_b;
  float alpha, beta;
};

class bare_queue {
 public:
  bool push(const plain_gemm& r) noexcept {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    if (head - tail_.load(std::memory_order_acquire) == room) return false;
    slots_[head % room] = r;
    head_.store(head + 1, std::memory_order_release);
    return true;
  }
  void consume_until(std::uint64_t count) noexcept {
    for (std::uint64_t tail = 0; tail != count; tail_.store(++tail, std::memory_order_release)) {
      while (head_.load(std::memory_order_acquire) == tail) spin_or_yield();
      eaten_ += slots_[tail % room].a;
    }
  }
  void await_empty() const noexcept {
    while (tail_.load(std::memory_order_acquire) != head_.load(std::memory_order_relaxed)) spin_or_yield();
  }

 private:
  // Spins, or yields if both threads share a core, because the other thread then runs only when this one yields.
  static void spin_or_yield() noexcept {
    static const bool alone = usable_cores() > 1;
    if (alone)
      spin_hint();
    else
      std::this_thread::yield();
  }
  alignas(128) std::atomic<std::uint64_t> head_{0};
  alignas(128) std::atomic<std::uint64_t> tail_{0};
  std::uint64_t eaten_ = 0;
  std::array<plain_gemm, room> slots_;
};

double per_operation(std::int64_t since) { return static_cast<double>(now_ns() - since) / burst; }

double raw_burst(bare_queue& queue) {
  new (&queue) bare_queue;
  std::thread consumer([&queue] {
    placement::join_others(placement::where::two_cores);
    queue.consume_until(burst + 1);
  });
  queue.push({.a = 1});
  queue.await_empty();  // so that the consumer is awake, on its core, and polling
  const std::int64_t start = now_ns();
  for (int i = 0; i < burst; ++i)
    queue.push({.a = 1, .b = 2, .c = 3, .m = n, .n = n, .k = n, .lda = n, .ldb = n, .ldc = n, .alpha = 1, .beta = 0});
  const double took = per_operation(start);
  consumer.join();
  return took;
}

/// The system calls during bursts of tells.
struct system_calls {
  bool watched = true;
  int bursts_without = 0;  ///< bursts without a system call
  int wakes =
      0;  ///< futex calls in the others: if the caller is off the processor for long enough, the worker falls asleep
  int others = 0;  ///< other system calls, which have no explanation
};

template <class Wake, class Tell>
system_calls watch_bursts(Wake wake, Tell tell) {
  system_calls found;
  for (int round = 0; round < 30; ++round) {
    wake();
    const system_call_watch watch;
    if (!watch.works()) return {.watched = false};
    const int before = found.wakes + found.others;
    for (int i = 0; i < burst; ++i) {
      watch.arm();
      tell();
      const long call = watch.disarm();
      if (call >= 0) ++(call == SYS_futex ? found.wakes : found.others);
    }
    found.bursts_without += found.wakes + found.others == before;
  }
  return found;
}

// Measures the time in which a thread sends the request and, if `asks`, makes the pending for its answer.
figures run_with(const settings& s, bool asks) {
  const device_under_test gpu(s, {.mailbox_capacity = room, .libraries = {"blas"}, .wait = wait_policy::latency});
  const auto a = gpu->alloc<float>(n * n), b = gpu->alloc<float>(n * n), c = gpu->alloc<float>(n * n);
  const std::vector<float> ones(n * n, 1.f);
  gpu->upload(a, ones);
  gpu->upload(b, ones);
  const blas::gemm<float> request{.a = a, .b = b, .c = c, .m = n, .n = n, .k = n};

  const placement placed(placement::where::two_cores, {gpu->statistics().worker_pid.value()});
  int refused = 0;
  std::uint64_t allocations = 0, sent = 0;
  std::vector<pending<void>> answers(burst);
  const auto send = [&](int i) {
    if (asks)
      answers[static_cast<std::size_t>(i)] = gpu->ask(request);
    else
      refused += !gpu->tell(request);
  };
  const auto ours = [&] {
    gpu->ping().get().value();  // wakes the worker, which then polls for half a millisecond
    const std::uint64_t before = allocations_of_this_thread();
    const std::int64_t start = now_ns();
    for (int i = 0; i < burst; ++i) send(i);
    const double took = per_operation(start);
    allocations += allocations_of_this_thread() - before, sent += burst;
    for (auto& answer : answers)
      if (answer.valid()) refused += !std::exchange(answer, {}).get();
    gpu->sync().get().value();
    return took;
  };
  auto queue = std::make_unique<bare_queue>();
  const pair_of_medians found = interleaved(s.rounds(301), ours, [&] { return raw_burst(*queue); });

  const system_calls calls =
      watch_bursts([&] { gpu->ping().get().value(); }, [&, i = 0]() mutable { send(i++ % burst); });
  answers.clear();
  const auto product = gpu->download(c).get().value();
  figures f{.ours = found.ours, .raw = found.raw};
  f.note = asks ? cat(allocations / sent, " allocations each; ") : cat(allocations, " allocations; ");
  f.note += !calls.watched ? "system calls cannot be watched here"
                           : cat(calls.bursts_without, " of 30 bursts without a system call, ", calls.wakes,
                                 " to wake the worker in the rest");
  if (allocations > (asks ? sent : 0))
    f.objection = cat(asks ? "an ask" : "a tell", " makes ", allocations, " allocations in ", sent);
  if (calls.watched && (calls.bursts_without == 0 || calls.others != 0))
    f.objection = "the caller makes system calls although the worker is awake";
  if (refused != 0) f.objection = cat(refused, " requests were refused or failed");
  if (product[0] != static_cast<float>(n)) f.objection = "the product is wrong";
  return f;
}

}  // namespace

figures run_tell_gemm(const settings& s) { return run_with(s, false); }
figures run_ask_gemm(const settings& s) { return run_with(s, true); }

}  // namespace troupe::bench

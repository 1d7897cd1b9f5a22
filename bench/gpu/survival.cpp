// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// What faults of all kinds leave intact: sealed memory, and other processes that use the GPU.
#include <algorithm>
#include <atomic>
#include <bench/device_under_test.hpp>
#include <bench/gpu/kernels.hpp>
#include <bench/gpu/raw_side.hpp>
#include <bench/measures.hpp>
#include <bench/recovery.hpp>
#include <chrono>
#include <cstdio>
#include <functional>
#include <map>
#include <thread>
#include <troupe/base/text/cat.hpp>
#include <troupe/device/sealing.hpp>
#include <troupe/faults/faults.hpp>

namespace troupe::bench {
namespace {

using std::chrono::milliseconds;

device_options fault_tolerant() {
  return {.when_full = when_full::wait,
          .libraries = {"jit", "faults"},
          .restarts = no_budget,
          .heartbeat_timeout = milliseconds(500)};
}

// Injects faults of every kind in turn until `count` faults have hit, and waits for an answer after each. Returns the
// number of faults by kind.
std::map<std::string, int> faults_of_all_kinds(const device& gpu, int count, const std::function<void()>& after_each) {
  std::map<std::string, int> by_kind;
  const auto kinds = faults::all_kinds();
  for (std::uint64_t n = 0, hits = 0; hits < static_cast<std::uint64_t>(count); ++n) {
    await_standbys(gpu, 1);
    const faults::kind k = kinds[n % kinds.size()];
    faults::storm one(gpu, {.kinds = {k},
                            .seed = n + 1,
                            .per_second = 1e6,
                            .most = 1,
                            .pause = milliseconds(2000),
                            .run_timeout = milliseconds(200)});
    one.wait();
    if (gpu.state() == device_state::stopped) throw bad_result(gpu.ping().get().error());
    if (one.hits() == 0) continue;
    ++hits;
    ++by_kind[std::string(to_string(k))];
    after_each();
  }
  return by_kind;
}

std::string text_of(const std::map<std::string, int>& by_kind) {
  std::string text;
  for (const auto& [name, count] : by_kind) text += cat(text.empty() ? "" : ", ", name, " ", count);
  return text;
}

// Repeats the query with the next worker if a fault has ended the first one.
std::uint64_t count_wrong(const pattern& numbers, const buffer<std::uint32_t>& in, std::uint32_t seed) {
  while (true) {
    const auto wrong = numbers.wrong_in(in, seed).get();
    if (wrong) return wrong->at(0);
    const reaction how = wrong.error().reaction();
    if (how != reaction::context_lost && how != reaction::retry_later) throw bad_result(wrong.error());
  }
}

// Writes and compares continuously, on a device without faults. Its kernels take longer than the time in which a worker
// must prove, after an alarm of the GPU, that it has not caused the fault.
class bystander {
 public:
  explicit bystander(const device& gpu) : gpu_(gpu), numbers_(gpu), thread_([this] { run(); }) {}
  ~bystander() { stop(); }
  bystander(const bystander&) = delete;
  void stop() {
    over_.store(true);
    if (thread_.joinable()) thread_.join();
  }
  // Precondition: it has stopped.
  std::uint64_t right() const noexcept { return right_; }
  std::uint64_t errors() const noexcept { return errors_; }
  std::uint64_t wrong() const noexcept { return wrong_; }
  double longest_ms() const noexcept { return longest_ms_; }
  const std::string& first_error() const noexcept { return first_error_; }

 private:
  void run() {
    const auto memory = gpu_.alloc<std::uint32_t>(16 << 20);
    for (std::uint32_t seed = 1; !over_.load(); ++seed) {
      for (std::uint64_t k = 0; k < 3; ++k) gpu_.tell(faults::hang{.milliseconds = 30, .number = k});
      const std::int64_t start = now_ns();
      numbers_.write(memory, seed);
      const auto wrong = numbers_.wrong_in(memory, seed).get();
      longest_ms_ = std::max(longest_ms_, static_cast<double>(now_ns() - start) / 1e6);
      if (wrong) {
        ++(wrong->at(0) == 0 ? right_ : wrong_);
      } else {
        ++errors_;
        if (first_error_.empty()) first_error_ = wrong.error().to_string();
      }
    }
  }

  device gpu_;
  pattern numbers_;
  std::atomic<bool> over_{false};
  std::uint64_t right_ = 0, errors_ = 0, wrong_ = 0;
  double longest_ms_ = 0;
  std::string first_error_;
  std::thread thread_;
};

}  // namespace

figures run_gpu_sealed(const settings& s) {
  constexpr std::uint32_t seed = 77;
  const extent words = std::int64_t{2} << 30;
  const int faults = s.rounds(50);
  const device_under_test gpu(s, fault_tolerant());
  const pattern numbers(*gpu);
  const auto sealed = gpu->alloc<std::uint32_t>(words, {.sealable = true});
  numbers.write(sealed, seed);
  seal(*gpu, sealed).get().value();
  figures f;
  const auto compare_all = [&] { f.ours += static_cast<double>(count_wrong(numbers, sealed, seed)); };
  compare_all();
  if (f.ours != 0) throw bad_result(error(reaction::fatal, "bench", "the pattern was not written"));

  const auto by_kind = faults_of_all_kinds(*gpu, faults, compare_all);
  // Counts kernels that write to the sealed memory itself.
  int refused = 0, wild = 0;
  for (std::uint32_t i = 0; i < 4; ++i) {
    await_standbys(*gpu, 1);
    auto blow = faults::wild_write::over(sealed.slice(words - 1024, 1024));
    blow.pattern = 0xdead0000u + i;
    refused += !gpu->ask(blow).get();
    ++wild;
    compare_all();
  }
  f.note = cat(faults, " faults: ", text_of(by_kind), "; and ", wild,
               " kernels that write into it. All of it is compared on the device after each");
  if (refused != wild) f.objection = "a kernel could write into sealed memory";
  if (!sealed.readable() || !sealed.sealed()) f.objection = "the sealed memory is stale";
  return f;
}

figures run_gpu_bystander(const settings& s) {
  const int faults = s.rounds(200);
  const device_under_test broken(s, fault_tolerant()), other(s, {.libraries = {"jit", "faults"}, .restarts = 0});
  bystander beside(*other);
  await_right_answer(*broken, 0);
  const auto by_kind = faults_of_all_kinds(*broken, faults, [] {});
  beside.stop();
  figures f{.ours = static_cast<double>(beside.errors() + beside.wrong())};
  char text[120];
  std::snprintf(text, sizeof text, "; %llu right answers meanwhile, the longest took %.0f ms",
                static_cast<unsigned long long>(beside.right()), beside.longest_ms());
  f.note = cat(faults, " faults: ", text_of(by_kind), text);
  if (!beside.first_error().empty()) f.missed = beside.first_error();
  if (beside.wrong() != 0) f.objection = cat(beside.wrong(), " answers were wrong");
  if (beside.right() == 0) f.objection = "the other device gave no answer";
  return f;
}

}  // namespace troupe::bench

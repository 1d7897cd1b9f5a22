// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// What all versions of the service share: the model, clients, batches, reference, statistics. A version is a class with
//   bool answer(std::span<const vector> in, std::span<vector> out);  // false: these requests get no answer
//   void inject_fault();       // launches a kernel that writes to `wild_address`, and does not wait for it
//   std::string where() const; // what computes
// Its constructor throws if it cannot serve. The functions are called from one thread.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <latch>
#include <mutex>
#include <optional>
#include <semaphore>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace comparison {

inline constexpr int width = 256, largest_batch = 64, clients = 8, requests_of_each = 2000, inputs_of_each = 64;
inline constexpr int all_requests = clients * requests_of_each, fault_after = all_requests / 4;
inline constexpr unsigned long long wild_address = 0x10;
using vector = std::array<float, width>;
using steady = std::chrono::steady_clock;

/// The same numbers in every run, evenly spread between -1 and 1.   splitmix64
class numbers {
 public:
  explicit numbers(std::uint64_t seed) : state_(seed) {}
  float next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return static_cast<float>((z ^ (z >> 31)) >> 40) / static_cast<float>(1 << 23) - 1;
  }

 private:
  std::uint64_t state_;
};

/// y = relu(W * x + b). W is stored row by row.
struct model {
  std::vector<float> weights = std::vector<float>(width * width);
  vector bias{};

  model() {
    numbers n(1);
    for (float& w : weights) w = n.next() / 16;
    for (float& b : bias) b = n.next();
  }
  vector reference(const vector& x) const {
    vector y;
    for (int i = 0; i < width; ++i) {
      double sum = bias[i];
      for (int k = 0; k < width; ++k) sum += static_cast<double>(weights[i * width + k]) * x[k];
      y[i] = static_cast<float>(std::max(sum, 0.0));
    }
    return y;
  }
};

inline bool nearly_equal(const vector& got, const vector& expected) {
  return std::equal(got.begin(), got.end(), expected.begin(),
                    [](float g, float e) { return std::abs(g - e) <= 1e-4f * std::max(1.0f, std::abs(e)); });
}

/// Collects the requests that wait, and has the service answer them in batches.
template <class Service>
class batcher {
 public:
  batcher(Service& service, bool with_fault)
      : service_(service), with_fault_(with_fault), thread_([this] { serve(); }) {}
  ~batcher() { close(); }

  /// Waits for the answer. Returns false if there is none.
  bool ask(const vector& in, vector& out) {
    request r{&in, &out};
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(&r);
    }
    arrived_.notify_one();
    r.done.acquire();
    return r.answered;
  }
  /// Ends the thread. No request may wait.
  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    arrived_.notify_one();
    if (thread_.joinable()) thread_.join();
  }
  /// The time from the fault to the first answer after it. Call this after `close`, and the next too.
  std::optional<double> recovery_ms() const { return recovery_ms_; }
  double mean_batch() const { return batches_ == 0 ? 0 : static_cast<double>(handled_) / batches_; }

 private:
  struct request {
    const vector* in;
    vector* out;
    bool answered = false;
    std::binary_semaphore done{0};
  };

  std::vector<request*> take() {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [this] { return closed_ || !waiting_.empty(); });
    const auto end = waiting_.begin() + std::min<std::ptrdiff_t>(std::ssize(waiting_), largest_batch);
    std::vector<request*> batch(waiting_.begin(), end);
    waiting_.erase(waiting_.begin(), end);
    return batch;
  }
  void serve() {
    std::vector<vector> in(largest_batch), out(largest_batch);
    for (auto batch = take(); !batch.empty(); batch = take()) {
      for (std::size_t i = 0; i < batch.size(); ++i) in[i] = *batch[i]->in;
      if (with_fault_ && !injected_ && handled_ >= fault_after) {
        injected_ = steady::now();
        service_.inject_fault();
      }
      const bool ok = service_.answer(std::span(in).first(batch.size()), std::span(out).first(batch.size()));
      if (ok && injected_ && !recovery_ms_) {
        recovery_ms_ = std::chrono::duration<double, std::milli>(steady::now() - *injected_).count();
      }
      handled_ += static_cast<int>(batch.size()), ++batches_;
      for (std::size_t i = 0; i < batch.size(); ++i) {
        if (ok) *batch[i]->out = out[i];
        batch[i]->answered = ok;
        batch[i]->done.release();  // the request ends with this
      }
    }
  }

  Service& service_;
  const bool with_fault_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<request*> waiting_;
  bool closed_ = false;
  int handled_ = 0, batches_ = 0;
  std::optional<steady::time_point> injected_;
  std::optional<double> recovery_ms_;
  std::thread thread_;  // last: it uses the others
};

/// A client: its inputs, what it expects, and what it got.
struct client {
  std::vector<vector> inputs, expected;
  int right = 0, wrong = 0, failed = 0;
  bool last_failed = false;
  std::vector<double> latencies_us;

  client(const model& m, int which) : inputs(inputs_of_each) {
    numbers n(static_cast<std::uint64_t>(which) + 2);
    for (vector& x : inputs) {
      for (float& v : x) v = n.next();
      expected.push_back(m.reference(x));
    }
    latencies_us.reserve(requests_of_each);
  }
  template <class Service>
  void run(batcher<Service>& service) {
    for (int i = 0; i < requests_of_each; ++i) {
      vector out{};
      const auto begin = steady::now();
      const bool ok = service.ask(inputs[i % inputs_of_each], out);
      const std::chrono::duration<double, std::micro> took = steady::now() - begin;
      last_failed = !ok;
      if (ok) latencies_us.push_back(took.count());
      ++(!ok ? failed : nearly_equal(out, expected[i % inputs_of_each]) ? right : wrong);
    }
  }
};

/// Prints the result as a line of JSON. Returns the exit code of the program.
template <class Service>
int report(std::string_view program, const Service& service, const std::vector<client>& all, double seconds,
           const batcher<Service>& batches, bool with_fault) {
  int right = 0, wrong = 0, failed = 0, abandoned = 0;
  std::vector<double> latencies;
  for (const client& c : all) {
    right += c.right, wrong += c.wrong, failed += c.failed, abandoned += c.last_failed;
    latencies.insert(latencies.end(), c.latencies_us.begin(), c.latencies_us.end());
  }
  std::sort(latencies.begin(), latencies.end());
  const auto percentile = [&](std::size_t p) {
    return latencies.empty() ? 0.0 : latencies[(latencies.size() - 1) * p / 100];
  };
  std::printf(
      R"({"program":"%s","where":"%s","requests":%d,"right":%d,"wrong":%d,"failed":%d,"requests_per_second":%.0f,)"
      R"("p50_us":%.1f,"p99_us":%.1f,"mean_batch":%.2f)",
      program.data(), service.where().c_str(), all_requests, right, wrong, failed, (right + wrong) / seconds,
      percentile(50), percentile(99), batches.mean_batch());
  if (with_fault) {
    const auto ms = batches.recovery_ms();
    std::printf(R"(,"recovery_ms":%s,"clients_without_answer":%d)", ms ? std::to_string(*ms).c_str() : "null",
                abandoned);
  }
  std::printf("}\n");
  std::fflush(stdout);  // a version may die while it cleans up
  return wrong > 0 || (failed > 0 && !with_fault) ? 1 : 0;
}

/// Runs the clients against a service. Options: --fault. Returns 2 if there can be no service here.
template <class Service>
int run(std::string_view program, int argc, char** argv) try {
  const bool with_fault = argc > 1 && std::string_view(argv[1]) == "--fault";
  const model m;
  std::vector<client> all;
  for (int i = 0; i < clients; ++i) all.emplace_back(m, i);
  Service service(m);
  std::vector<vector> answers(largest_batch);
  for (int n = largest_batch; n > 0; --n) {  // libraries choose and load their kernels by the size of the batch
    const std::vector<vector> questions(n, all[0].inputs[0]);
    if (!service.answer(questions, std::span(answers).first(n)) || !nearly_equal(answers[n - 1], all[0].expected[0])) {
      std::fprintf(stderr, "%s: the service cannot answer a batch of %d\n", program.data(), n);
      return 2;
    }
  }
  batcher<Service> batches(service, with_fault);
  std::latch all_there(clients + 1);
  steady::time_point begin;
  {
    std::vector<std::jthread> threads;
    for (client& c : all) {
      threads.emplace_back([&] {
        all_there.arrive_and_wait();
        c.run(batches);
      });
    }
    begin = steady::now();
    all_there.arrive_and_wait();
  }
  const std::chrono::duration<double> took = steady::now() - begin;
  batches.close();
  return report(program, service, all, took.count(), batches, with_fault);
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s: cannot serve on this machine (is there a GPU?): %s\n", program.data(), e.what());
  return 2;
}

}  // namespace comparison

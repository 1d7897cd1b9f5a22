// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "clients.hpp"

#include <algorithm>
#include <tests/engines/requests.hpp>
#include <troupe/base/clock.hpp>
#include <troupe/blas/blas.hpp>
#include <troupe/device/managed.hpp>
#include <troupe/jit/jit.hpp>

namespace adversary {

using namespace troupe;

namespace {

constexpr const char* source = R"(__global__ void twice_plus(float more, float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = 2 * x[i] + more;
})";

}  // namespace

void client_counts::count(const error& e) {
  const bool is_stopped = e.reaction() == reaction::stopped;
  const std::scoped_lock guard(lock_);
  if (first_.empty() || (is_stopped && stopped == 0)) first_ = e.to_string();
  ++(is_stopped ? stopped : lost);
}
std::string client_counts::first_error() {
  const std::scoped_lock guard(lock_);
  return first_;
}

struct honest_client::kernel_cache {
  jit::program program;
  explicit kernel_cache(const device& gpu) : program(jit::compile(gpu, {.source = source})) {}
};

honest_client::honest_client(device gpu, client_counts& counts, bool asks_for_memory)
    : gpu_(std::move(gpu)),
      counts_(counts),
      asks_for_memory_(asks_for_memory),
      kernels_(std::make_shared<kernel_cache>(gpu_)) {}

template <class F>
void honest_client::time(F&& part) {
  const std::int64_t begun = now_ns();
  since_ns_.store(begun);
  part();
  since_ns_.store(0);
  const std::int64_t took = now_ns() - begun;
  std::int64_t longest = counts_.longest_ns.load();
  while (took > longest && !counts_.longest_ns.compare_exchange_weak(longest, took)) {
  }
}

bool honest_client::step(std::uint64_t number) {
  bool right = false;
  time([&] { right = compute(number); });
  time([&] { fail(number); });
  if (asks_for_memory_)
    time([&] {
      const auto managed = alloc_managed<float>(gpu_, 1000);
      (void)gpu_.fill(managed, 1.0f).get();
    });
  return right;
}

std::int64_t honest_client::waiting_ns() const {
  const std::int64_t since = since_ns_.load();
  return since == 0 ? 0 : now_ns() - since;
}

bool honest_client::compute(std::uint64_t number) {
  const int n = number % 5 == 4 ? 200'000 : 1000;
  const auto base = static_cast<float>(number % 1000);
  std::vector<float> data(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) data[static_cast<std::size_t>(i)] = base + static_cast<float>(i % 7);
  const auto x = gpu_.upload(data), y = gpu_.alloc<float>(n);
  gpu_.fill(y, base);
  gpu_.tell(blas::axpy<float>{.x = x, .y = y, .n = n, .alpha = 3});
  const auto kernel = kernels_->program.kernel<void(float, inout<float>, int)>("twice_plus");
  gpu_.tell(kernel(kernel::blocks_for(n, 256), 256)(1.0f, y, n));
  const auto got = gpu_.download(y).get();
  if (!got) {
    counts_.count(got.error());
    return false;
  }
  for (int i = 0; i < n; ++i)
    if ((*got)[static_cast<std::size_t>(i)] != 2 * (base + 3 * data[static_cast<std::size_t>(i)]) + 1)
      return ++counts_.wrong_data, false;
  ++counts_.right;
  return true;
}

// Sends several such requests at once, so that some of their reports stay unread for a moment.
void honest_client::fail(std::uint64_t number) {
  std::vector<pending<void>> answers;
  gpu_.tell(testing_actor::nap{.microseconds = 2000});  // so that a request is running most of the time
  for (int i = 0; i < 6; ++i)
    answers.push_back(gpu_.ask(testing_actor::fail{
        .how = reaction::unsupported, .code = static_cast<std::int64_t>(number), .text = "this request must fail"}));
  const auto spoiled = gpu_.alloc<float>(16);
  gpu_.tell(testing_actor::spoil{.target = spoiled, .n = 16, .text = "this data must be missing"});
  auto missing = gpu_.download(spoiled);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  for (auto& answer : answers) counts_.wrong_success += answer.get().has_value();
  counts_.wrong_success += missing.get().has_value();
}

client_threads::client_threads(const device& gpu, client_counts& counts, int threads, bool asks_for_memory) {
  for (int i = 0; i < threads; ++i) {
    clients_.push_back(std::make_unique<honest_client>(gpu, counts, asks_for_memory));
    threads_.emplace_back([this, i, client = clients_.back().get()] {
      for (std::uint64_t number = static_cast<std::uint64_t>(i) * 100; !end_.load(); ++number) {
        client->step(number);
        std::this_thread::sleep_for(std::chrono::milliseconds(3));
      }
    });
  }
}

client_threads::~client_threads() {
  end_.store(true);
  for (std::thread& t : threads_) t.join();
}

std::int64_t client_threads::waiting_ns() const {
  std::int64_t longest = 0;
  for (const auto& c : clients_) longest = std::max(longest, c->waiting_ns());
  return longest;
}

}  // namespace adversary

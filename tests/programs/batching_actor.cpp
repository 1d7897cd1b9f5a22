// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// An actor that batches its messages while the previous batch is in flight, crashes at times, and is restarted until
// its supervisor gives up.
#include <cstdio>
#include <stdexcept>
#include <thread>
#include <troupe/actor/stage.hpp>
#include <troupe/actor/supervisor.hpp>
#include <troupe/async/promise.hpp>
#include <troupe/async/thread_pool.hpp>
#include <troupe/async/when.hpp>
#include <troupe/blas/blas.hpp>
#include <troupe/troupe.hpp>
#include <vector>

using namespace troupe;

constexpr float scale = 3;

struct work {
  float value;
  promise<float> answer;
};
struct batch_done {
  result<std::vector<float>> values;
};
struct count_batches {};

class batcher {
 public:
  batcher(actor_context<batcher>& self, device gpu) : self_(self), gpu_(gpu) {}

  void handle(work m) {
    if (m.value < 0) throw std::runtime_error("a negative number");
    waiting_.push_back(std::move(m));
    if (running_.empty()) begin();
  }
  void handle(batch_done m) {
    for (std::size_t i = 0; i < running_.size(); ++i) {
      if (m.values) {
        running_[i].answer.set((*m.values)[i]);
      } else {
        running_[i].answer.set(m.values.error());
      }
    }
    running_.clear();
    if (!waiting_.empty()) begin();
  }
  int handle(count_batches) const { return batches_; }

 private:
  void begin() {
    ++batches_;
    std::swap(running_, waiting_);
    std::vector<float> values;
    for (const work& w : running_) values.push_back(w.value);
    auto x = gpu_.alloc<float>(values.size());
    gpu_.upload(x, values);
    gpu_.tell(blas::scal<float>{.x = x, .n = values.size(), .alpha = scale});
    self_.pipe(gpu_.download(x), [](result<std::vector<float>> r) { return batch_done{std::move(r)}; });
  }

  actor_context<batcher>& self_;
  device gpu_;
  std::vector<work> waiting_, running_;
  int batches_ = 0;
};

struct outcome {
  int right = 0, wrong = 0, again = 0;
};

/// Asks again if a crash has lost the request, until it is answered.
task<outcome> client(supervised_ref<batcher> service, int id) {
  outcome out;
  for (int i = 0; i < 200; ++i) {
    const float value = static_cast<float>(id * 1000 + i);
    while (true) {
      promise<float> answer;
      pending<float> coming = answer.get_pending();
      service.tell(work{value, std::move(answer)});
      const result<float> got = co_await std::move(coming);
      if (got) {
        ++(*got == value * scale ? out.right : out.wrong);
        break;
      }
      ++out.again;
    }
  }
  co_return out;
}

int main() {
  runtime rt;
  const device gpu = rt.open_device();
  thread_pool pool(2);
  stage shop;
  auto service = supervise<batcher>("batcher", {.mailbox = 4096}, gpu);
  auto manager =
      shop.spawn<supervisor>({.name = "manager"}, supervisor_options{.restarts = 5}, std::vector{service.spec});
  if (const auto up = manager.ask(count_children{}).get(); !up || up->active != 1) return 1;

  std::vector<pending<outcome>> clients;
  for (int id = 0; id < 8; ++id) clients.push_back(start(pool, client(service.ref, id)));
  const auto crash = [&] {
    auto life = service.ref.current();
    service.ref.tell(work{-1, {}});
    const auto end = life.watch().get();
    return end && end->kind == exit_kind::crashed && end->cause->text().find("a negative number") != std::string::npos;
  };
  bool crashed = true;
  for (int i = 0; i < 5; ++i) {
    crashed &= crash();
    while (!service.ref.ask(count_batches{}).get()) std::this_thread::yield();  // until its restart
  }

  outcome sum;
  for (auto& c : clients) {
    const auto one = c.get();
    if (!one) return std::fprintf(stderr, "batching_actor: %s\n", one.error().to_string().c_str()), 1;
    sum.right += one->right;
    sum.wrong += one->wrong;
    sum.again += one->again;
  }
  const auto batches = service.ref.ask(count_batches{}).get();
  std::printf("%d right, %d wrong, %d asked again, %d batches in the last life\n", sum.right, sum.wrong, sum.again,
              batches.value_or(-1));

  // One crash more than the supervisor tolerates.
  auto end = manager.watch();
  crashed &= crash();
  const auto why = end.get();
  const bool gave_up = why && why->kind == exit_kind::shutdown && why->cause;
  const auto refused = service.ref.ask(count_batches{}).get();
  const bool stopped = !refused && refused.error().reaction() == reaction::stopped;
  if (why) std::printf("%s\n", why->to_string().c_str());
  return crashed && sum.right == 8 * 200 && sum.wrong == 0 && batches && gave_up && stopped ? 0 : 1;
}

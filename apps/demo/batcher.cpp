// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <apps/demo/batcher.hpp>

namespace demo {

using namespace troupe;

namespace {

bool fault_took_it(const error& e) { return e.reaction() == reaction::context_lost; }

}  // namespace

void batcher::handle(question q) {
  waiting_.push_back(std::move(q));
  send_batches();
}

void batcher::handle(answered a) {
  --under_way_;
  if (!a.classes && fault_took_it(a.classes.error())) return ask_again(std::move(a.batch));
  for (std::size_t i = 0; i < a.batch.size(); ++i) {
    if (!a.classes) {
      a.batch[i].reply.set(a.classes.error());
      continue;
    }
    classes out;
    std::copy_n(a.classes->data() + i * out.size(), out.size(), out.begin());
    a.batch[i].reply.set(out);
  }
  send_batches();
}

// Queues the questions of a lost batch before all others, because they have waited longest.
void batcher::ask_again(std::vector<question> batch) {
  counts_.repeated.fetch_add(1);
  waiting_.insert(waiting_.begin(), std::move_iterator(batch.begin()), std::move_iterator(batch.end()));
  net_->renew();
  send_batches();
}

void batcher::send_batches() {
  while (!waiting_.empty() && under_way_ < batches_under_way) {
    const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(waiting_.size(), largest_batch));
    std::vector<question> batch(std::move_iterator(waiting_.begin()), std::move_iterator(end));
    waiting_.erase(waiting_.begin(), end);
    std::vector<float> features;
    features.reserve(batch.size() * shape::features);
    for (const question& q : batch) features.insert(features.end(), q.features->begin(), q.features->end());
    auto answer = net_->answer(features, static_cast<std::int64_t>(batch.size()));
    ++under_way_;
    counts_.batches.fetch_add(1);
    counts_.questions.fetch_add(batch.size());
    // The answer arrives as a message, so the actor can do other work meanwhile.
    self_.pipe(std::move(answer), [batch = std::move(batch)](result<std::vector<float>> classes) mutable {
      return answered{std::move(batch), std::move(classes)};
    });
  }
}

void batcher::terminate(exit_reason) {
  for (question& q : waiting_) q.reply.set(error(reaction::stopped, "demo", "the service has closed"));
}

pending<classes> ask(const actor_ref<batcher>& service, const std::vector<float>& features) {
  question q{&features, {}};
  auto answer = q.reply.get_pending();
  // If the service is overloaded, its mailbox is full, and the question has not been moved.
  if (const accepted taken = service.tell(std::move(q)); !taken) q.reply.set(taken.error());
  return answer;
}

}  // namespace demo

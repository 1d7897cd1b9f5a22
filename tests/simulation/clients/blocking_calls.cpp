// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "blocking_calls.hpp"

#include <utility>

namespace troupe::simulation {

void blocking_calls::start(client_request* of, std::function<void()> work) {
  call& c = calls_.emplace_back(call{of});
  c.thread = std::make_unique<client_thread>(std::move(work));
  resume(c);
}

void blocking_calls::resume(call& c) {
  call* const outer = std::exchange(current_, &c);
  c.thread->resume();
  current_ = outer;
}

bool blocking_calls::resume_any(random_bits& r) {
  std::erase_if(calls_, [](const call& c) { return c.thread->ended(); });
  std::vector<call*> able;
  for (call& c : calls_)
    if (c.answer->done() || (*c.ready)()) able.push_back(&c);
  if (able.empty()) return false;
  resume(*able[r.below(able.size())]);
  return true;
}

void blocking_calls::block(pending_core& answer, const std::function<bool()>& ready) {
  call& me = *current_;
  me.ready = &ready;
  me.answer = &answer;
  me.thread->yield();
}

}  // namespace troupe::simulation

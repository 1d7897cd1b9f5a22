// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The smallest actor: it adds the numbers that it receives.
#include <cstdio>
#include <troupe/actor/stage.hpp>
#include <troupe/async/pending.hpp>

using namespace troupe;

struct add {
  int amount;
};
struct get {};

struct counter {
  void handle(add m) { total += m.amount; }
  result<int> handle(get) { return total; }
  void terminate(exit_reason why) { std::printf("%s, total %d\n", why.to_string().c_str(), total); }
  int total = 0;
};

int main() {
  stage s;  // threads, a clock, and the actors spawned on it
  auto ref = s.spawn<counter>({.mailbox = 1024, .name = "counter"});
  ref.tell(add{2});                      // sends; returns `accepted`, which you may ignore
  pending<int> answer = ref.ask(get{});  // co_await it, get() it, or .then(...)
  return answer.get().value_or(0) == 2 ? 0 : 1;
}

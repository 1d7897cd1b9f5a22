// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Actors and a supervisor: a shop whose till crashes and is restarted.
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <troupe/actor/stage.hpp>
#include <troupe/actor/supervisor.hpp>

using namespace std::chrono_literals;
using namespace troupe;

struct sale {
  int cents;
};
struct takings {};
struct close_day {};

/// Adds up sales. Any class with handlers is an actor.
struct till {
  void handle(sale s) {
    if (s.cents < 0) throw std::invalid_argument("a sale of " + std::to_string(s.cents) + " cents");
    total += s.cents;
  }
  int handle(takings) const { return total; }
  int total = 0;
};

/// Asks the till at the end of the day. While its task waits, the accountant handles no other message.
struct accountant {
  explicit accountant(supervised_ref<till> t) : counter(std::move(t)) {}
  task<result<int>> handle(close_day) {
    const int day = co_await counter.ask(takings{});  // an error would end the task and be its answer
    co_return year += day;
  }
  supervised_ref<till> counter;
  int year = 0;
};

int main() {
  stage shop;  // threads, a clock, and the actors that are spawned here

  auto counter = supervise<till>("till", {.mailbox = 256});
  counter.spec.shutdown = 2s;
  auto books = supervise<accountant>("books", {}, counter.ref);
  auto manager = shop.spawn<supervisor>({.name = "manager"}, supervisor_options{.strategy = strategy::one_for_one},
                                        std::vector{counter.spec, books.spec});
  (void)manager.ask(count_children{}).get();  // answered when all children are started

  if (const accepted taken = counter.ref.tell(sale{250}); !taken) std::printf("%s\n", taken.error().text().c_str());
  counter.ref.tell(sale{120});
  const result<int> day = books.ref.ask(close_day{}).get();
  std::printf("closed the day with %d\n", day ? *day : -1);

  const result<void> answer = counter.ref.ask(sale{-1}).get();  // breaks the till
  std::printf("the till said: %s\n", answer.error().text().c_str());
  while (!counter.ref.ask(takings{}).get()) {
  }  // between two incarnations it answers retry_later
  const auto children = manager.ask(which_children{}).get().value();
  std::printf("restarts of the till: %d\n", static_cast<int>(children[0].restarts));

  const auto end = counter.ref.current().watch();  // reports the end of this incarnation
  return day && *day == 370 && children[0].restarts == 1 && !end.ready() ? 0 : 1;
}  // the stage stops the manager, which stops its children in reverse order

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// A user's own actor, asked and told with messages written in place; some of its answers need a device.
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <troupe/actor/stage.hpp>
#include <troupe/async/thread_pool.hpp>
#include <troupe/async/when.hpp>
#include <troupe/blas/blas.hpp>
#include <troupe/troupe.hpp>
#include <vector>

using namespace troupe;

struct store {
  text key;
  list<double> values;
};
struct look_up {
  text key;
  double otherwise = 0;
};
struct similarity {
  text left, right;
};
struct rank {
  text key;
  list<std::string> among;
};
struct forget {
  list<std::string> keys;
};

class library {
 public:
  explicit library(device gpu) : gpu_(gpu) {}

  void handle(store m) {
    auto x = gpu_.alloc<double>(m.values.size());
    gpu_.upload(x, m.values.vector());
    vectors_.insert_or_assign(m.key.str(), x);
  }
  result<double> handle(const look_up& m) const {  // the number of elements
    const auto found = vectors_.find(m.key.str());
    return found == vectors_.end() ? m.otherwise : static_cast<double>(found->second.size().value());
  }
  task<result<double>> handle(similarity m) {
    const auto left = vectors_.find(m.left.str()), right = vectors_.find(m.right.str());
    if (left == vectors_.end() || right == vectors_.end())
      co_return error(reaction::caller_bug, "library", "no vector \"" + m.left + "\" or \"" + m.right + "\"");
    co_return co_await gpu_.ask(blas::dot<double>{.x = left->second, .y = right->second, .n = left->second.size()});
  }
  task<result<std::string>> handle(rank m) {
    std::string best;
    double most = -HUGE_VAL;
    for (const std::string& other : m.among) {
      const double sum = co_await handle(similarity{.left = m.key, .right = other});
      if (sum > most) best = other, most = sum;
    }
    co_return best;
  }
  void handle(const forget& m) {
    for (const std::string& key : m.keys) vectors_.erase(key);
  }

 private:
  device gpu_;
  std::map<std::string, buffer<double>> vectors_;
};

task<result<int>> visit(actor_ref<library> books) {
  int wrong = 0;
  books.tell(store{.key = "the vector along the first of the axes", .values = {1, 0, 0}});
  books.tell(store{.key = "second", .values = {0, 1, 0}});
  books.tell(store{.key = "a vector between both of these two axes", .values = {2, 3, 0}});
  wrong += co_await books.ask(look_up{.key = "second"}) != 3;
  wrong += co_await books.ask(look_up{.key = "a key that nobody has ever stored here", .otherwise = -1}) != -1;
  wrong += co_await books.ask(similarity{.left = "the vector along the first of the axes",
                                         .right = "a vector between both of these two axes"}) != 2;
  wrong += co_await books.ask(rank{.key = "a vector between both of these two axes",
                                   .among = {"the vector along the first of the axes", "second"}}) != "second";
  for (int i = 0; i < 200; ++i) {
    co_await books.ask(
        store{.key = "vector number " + std::to_string(i) + " of two hundred", .values = {0, 0, 1.0 * i}});
    wrong += co_await books.ask(similarity{.left = "vector number " + std::to_string(i) + " of two hundred",
                                           .right = "vector number " + std::to_string(i) + " of two hundred"}) !=
             1.0 * i * i;
  }
  auto both = co_await when_all(books.ask(look_up{.key = "second"}),
                                books.ask(similarity{.left = "second", .right = "second"}));
  wrong += std::get<0>(both).value_or(0) != 3 || std::get<1>(both).value_or(0) != 1;

  books.tell(forget{.keys = {"second", "the vector along the first of the axes"}});
  const auto gone =
      co_await as_result(books.ask(similarity{.left = "second", .right = "vector number 7 of two hundred"}));
  wrong += gone || gone.error().text().find("second") == std::string::npos;
  co_return wrong;
}

int main() {
  runtime rt;
  const device gpu = rt.open_device();
  stage s;
  const auto books = s.spawn<library>({.mailbox = 256, .name = "library"}, gpu);
  const auto wrong = sync_wait(visit(books));
  if (!wrong) return std::fprintf(stderr, "own_actor: %s\n", wrong.error().to_string().c_str()), 1;
  return *wrong == 0 ? 0 : 1;
}

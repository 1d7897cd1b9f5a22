// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <thread>
#include <troupe/memory/copying/copy_threads.hpp>

namespace troupe {
namespace {

// A copy whose pieces count how often, and by which thread, they are copied.
class counted_copy final : public shared_copy {
 public:
  explicit counted_copy(std::size_t count) : done(count) {}
  bool copy_piece() noexcept override {
    std::size_t mine = next.load();
    do
      if (mine >= may.load()) return false;
    while (!next.compare_exchange_weak(mine, mine + 1));
    if (std::this_thread::get_id() != owner) by_others = true;
    if (pause.count() != 0) std::this_thread::sleep_for(pause);
    ++done[mine];
    return true;
  }
  std::size_t waiting_pieces() const noexcept override { return may.load() - next.load(); }

  std::atomic<std::size_t> next{0}, may{0};
  std::deque<std::atomic<int>> done;
  std::atomic<bool> by_others{false};
  std::chrono::milliseconds pause{0};
  const std::thread::id owner = std::this_thread::get_id();
};

// Does what the owner of a copy does: makes pieces available one by one, calls for help, and copies pieces itself.
void carry_out(copy_threads& helpers, counted_copy& copy) {
  const copy_threads::sharing shared(helpers, copy);
  while (copy.next.load() < copy.done.size()) {
    if (copy.may.load() < copy.done.size()) ++copy.may;
    helpers.call_help(copy.waiting_pieces());
    copy.copy_piece();
  }
}

TEST(copy_threads, copy_every_piece_once_with_any_number_of_helpers) {
  for (const std::size_t helpers : {0, 1, 3}) {
    copy_threads crew(helpers);
    for (std::size_t count = 0; count < 300; ++count) {
      counted_copy copy(count);
      carry_out(crew, copy);
      for (const auto& d : copy.done) ASSERT_EQ(d.load(), 1) << count;
    }
  }
}

// If a worker damages its counter, pieces seem to wait that no thread can take.
TEST(copy_threads, sleep_if_the_waiting_pieces_cannot_be_copied) {
  struct impossible_copy final : shared_copy {
    bool copy_piece() noexcept override { return ++tries, false; }
    std::size_t waiting_pieces() const noexcept override { return 5; }
    std::atomic<int> tries{0};
  } copy;
  copy_threads crew(1);
  const copy_threads::sharing shared(crew, copy);
  crew.call_help(5);
  while (copy.tries == 0) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const int before = copy.tries;
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(copy.tries, before) << "the helper spins";
  crew.call_help(5);
  while (copy.tries == before) std::this_thread::yield();
}

TEST(copy_threads, serve_several_callers_at_the_same_time) {
  copy_threads crew(2);
  std::vector<std::thread> callers;
  for (int t = 0; t < 4; ++t)
    callers.emplace_back([&crew] {
      for (int round = 0; round < 500; ++round) {
        counted_copy copy(20);
        copy.may = 20;
        carry_out(crew, copy);
        for (const auto& d : copy.done) ASSERT_EQ(d.load(), 1);
      }
    });
  for (std::thread& c : callers) c.join();
}

// Also after helpers have slept since the last copy.
TEST(copy_threads, take_pieces_while_the_caller_is_busy_with_one) {
  copy_threads crew(1);
  int helped = 0;
  for (int round = 0; round < 200 && helped < 2; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    counted_copy copy(2);
    copy.pause = std::chrono::milliseconds(2);
    copy.may = 2;
    carry_out(crew, copy);
    if (copy.by_others) ++helped;
  }
  EXPECT_EQ(helped, 2) << "no helper took a piece";
}

TEST(copy_threads, have_left_a_copy_when_remove_returns) {
  copy_threads crew(2);
  for (int round = 0; round < 200; ++round) {
    counted_copy copy(1000);
    copy.may = 1000;
    std::size_t taken = 0;
    {
      const copy_threads::sharing shared(crew, copy);
      for (int i = 0; i < 50; ++i) {
        crew.call_help(copy.waiting_pieces());
        copy.copy_piece();
      }
    }
    taken = copy.next;
    for (std::size_t i = 0; i < taken; ++i) ASSERT_EQ(copy.done[i].load(), 1) << "a piece was still being copied";
    std::this_thread::yield();
    ASSERT_EQ(copy.next.load(), taken) << "a helper took a piece after the removal";
  }
}

TEST(copy_threads, are_few_enough_to_leave_cores_to_caller_and_worker) {
  EXPECT_EQ(copy_threads::helpers_for(0), 0u);
  EXPECT_EQ(copy_threads::helpers_for(1), 0u);
  EXPECT_EQ(copy_threads::helpers_for(2), 0u);
  EXPECT_EQ(copy_threads::helpers_for(3), 1u);
  EXPECT_EQ(copy_threads::helpers_for(16), 7u);
  EXPECT_EQ(copy_threads::helpers_for(1000), 8u);
}

}  // namespace
}  // namespace troupe

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cuda_on_host/image.h>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <troupe/cuda_on_host/internal/fiber_stacks.hpp>
#include <troupe/cuda_on_host/internal/fiber_switch.hpp>
#include <vector>

namespace troupe::cuda_on_host {

// Runs the threads of one block as fibers of one system thread. A fiber runs until it waits for others; then the next
// ready fiber runs, preferably of the same warp. Threads that are released together continue in ascending order. A
// fiber gets a stack when it first runs, and passes the stack on when it ends, so threads that do not wait run like a
// loop.
class fibers {
 public:
  using thread_function = void (*)(void* context, std::uint32_t index);
  using operation = void (*)(troupe_host_warp*, std::uint32_t mask);

  fibers() = default;
  ~fibers();
  fibers(const fibers&) = delete;
  fibers& operator=(const fibers&) = delete;

  // Runs all threads of the block. Returns the block's status.
  std::uint32_t run(troupe_host_block& block, thread_function thread, void* context);

  // Called by fibers; troupe_host_services describes these functions.
  std::uint64_t barrier(std::uint32_t predicate, const char* file, std::uint32_t line);
  void meet(std::uint32_t mask, operation complete, const char* file, std::uint32_t line);
  void shuffle(std::uint32_t mask, const char* file, std::uint32_t line);
  void in_step(std::uint32_t step);
  std::uint32_t converged(const char* file, std::uint32_t line);
  void reached_end() noexcept;
  [[noreturn]] void leave(std::uint32_t status);

 private:
  static constexpr std::uint32_t lanes = 32;
  static constexpr std::uint32_t max_warps = 32;
  static constexpr std::uint32_t none = UINT32_MAX;
  static constexpr std::uint32_t prefetch_distance = 2;

  struct place {
    const char* file;
    std::uint32_t line;
    bool operator==(const place& o) const noexcept {
      return line == o.line && (file == o.file || (file && o.file && std::strcmp(file, o.file) == 0));
    }
  };
  // Lanes of a warp that wait for each other in a warp operation.
  struct meeting {
    operation complete;
    std::uint32_t mask, arrived;
    place at;
  };
  struct warp {
    std::uint32_t ready;       // lanes that can run or have not begun, as a mask
    std::uint32_t released;    // lanes that become ready when no other lane can run
    std::uint32_t live;        // lanes that have not ended
    std::uint32_t converging;  // lanes that wait in converged()
    std::uint32_t stepping;    // lanes that wait in in_step()
    std::uint32_t meetings;    // which elements of meeting_of are in use, as a mask
    // meetings that all their lanes have reached, while other lanes may still join, as a mask
    std::uint32_t postponed;
    std::array<meeting, lanes> meeting_of;
  };
  struct fiber {
    stack_position position;
    std::uint32_t stack;           // `none` until the fiber begins
    std::uint32_t converged_mask;  // result of converged()
    std::uint32_t step;            // the step for which the fiber waits in in_step()
    place at;                      // the source line at which the fiber waits
  };
  struct stack_state {
    void* address_sanitizer = nullptr;
    void* thread_sanitizer = nullptr;
  };

  static void enter();
  void begin(std::uint32_t thread, std::uint32_t stack) noexcept;
  void run_on_this_stack();
  void end_thread();
  void select(std::uint32_t thread) noexcept;
  void sleep_at(place at) noexcept;
  void wait();
  void prefetch_after(std::uint32_t thread) const noexcept;
  std::uint32_t next();
  void go_to(std::uint32_t thread, stack_position& from, stack_state* state);
  void go_to_main(stack_state* state);
  void release_barrier();
  void complete(warp& w, std::uint32_t index);
  void complete_shuffle(warp& w, std::uint32_t index);
  void release_postponed(warp& w);
  void release_converged(std::uint32_t warp_index);
  void release_step(std::uint32_t warp_index);
  bool waits_in_shuffle(const warp& w, std::uint32_t lane, place at) const noexcept;
  std::uint32_t take_stack();
  [[noreturn]] void diverged(place at, std::uint32_t other_line, std::uint32_t thread, const char* text);
  [[noreturn]] void report_deadlock();

  troupe_host_block* block_ = nullptr;
  thread_function thread_ = nullptr;
  void* context_ = nullptr;
  std::uint32_t warp_ = 0, lane_ = 0;  // the warp and lane of the running fiber
  std::uint32_t warp_count_ = 0;
  std::uint32_t ready_warps_ = 0;  // mask of the warps that have ready lanes
  std::uint32_t live_ = 0;         // threads that have not ended
  std::uint32_t reached_end_ = 0;
  std::uint32_t arrived_ = 0;  // threads that wait at the barrier
  std::uint32_t counted_ = 0;  // how many of these passed a nonzero predicate
  std::uint64_t barrier_result_ = 0;
  place barrier_at_{};
  std::uint32_t other_line_ = 0;  // line of a different barrier that a thread has reached
  std::uint32_t status_ = 0;

  stack_position main_, abandoned_;
  stack_state main_state_;
  const void* main_bottom_ = nullptr;
  std::size_t main_bytes_ = 0;
  fiber_stacks stacks_;
  std::uint32_t used_stacks_ = 0;
  std::vector<std::uint32_t> free_stacks_;
  std::deque<stack_state> stack_states_;  // a deque, because waiting fibers refer to its elements
  std::vector<fiber> fibers_;
  std::array<warp, max_warps> warps_;
  std::array<troupe_host_warp, max_warps> exchange_;
};

}  // namespace troupe::cuda_on_host

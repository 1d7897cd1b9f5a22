// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/cuda_on_host/internal/fibers.hpp>
#include <troupe/cuda_on_host/internal/sanitizer_fibers.hpp>

#include <bit>

namespace troupe::cuda_on_host {

namespace {
// tells the first function on a new stack, which takes no argument, whose stack it is
thread_local fibers* running = nullptr;
}  // namespace

fibers::~fibers() {
  for (const stack_state& s : stack_states_) sanitizer_end_fiber(s.thread_sanitizer);
}

std::uint32_t fibers::run(troupe_host_block& block, thread_function thread, void* context) {
  block_ = &block;
  thread_ = thread;
  context_ = context;
  const std::uint32_t count = block.threads;
  if (fibers_.size() < count) fibers_.resize(count);
  for (std::uint32_t t = 0; t < count; ++t) fibers_[t].stack = none;
  warp_count_ = (count + lanes - 1) / lanes;
  for (std::uint32_t w = 0; w < warp_count_; ++w) {
    const std::uint32_t rest = count - w * lanes;
    const std::uint32_t mask = rest >= lanes ? ~0u : (1u << rest) - 1;
    warps_[w].ready = warps_[w].live = mask;
    warps_[w].released = warps_[w].converging = warps_[w].stepping = warps_[w].meetings = warps_[w].postponed = 0;
  }
  ready_warps_ = warp_count_ == max_warps ? ~0u : (1u << warp_count_) - 1;
  live_ = count;
  reached_end_ = arrived_ = counted_ = other_line_ = 0;
  status_ = TROUPE_HOST_OK;
  used_stacks_ = 0;
  free_stacks_.clear();
  block.warps = exchange_.data();
  block.fibers = 1;
  running = this;
  main_bottom_ = nullptr;  // another thread may have run the previous block
  main_state_.thread_sanitizer = sanitizer_this_fiber();
  const std::uint32_t stack = take_stack();
  if (stack != none) {
    begin(0, stack);
    select(0);
    go_to(0, main_, &main_state_);
    sanitizer_enters_stack(main_state_.address_sanitizer, nullptr, nullptr);
  }
  block.fibers = 0;
  return status_;
}

// Returns the number of a stack for a fiber that has not begun: the stack of a fiber that has ended, or a new one.
std::uint32_t fibers::take_stack() {
  if (!free_stacks_.empty()) {
    const std::uint32_t stack = free_stacks_.back();
    free_stacks_.pop_back();
    return stack;
  }
  if (!stacks_.reserve(used_stacks_ + 1)) {
    status_ = TROUPE_HOST_NO_MEMORY;
    return none;
  }
  while (stack_states_.size() <= used_stacks_) stack_states_.push_back({.thread_sanitizer = sanitizer_new_fiber()});
  return used_stacks_++;
}

void fibers::begin(std::uint32_t thread, std::uint32_t stack) noexcept {
  const fiber_stacks::stack memory = stacks_[stack];
  sanitizer_forgets_stack(memory.bottom, memory.bytes);
  fibers_[thread].stack = stack;
  fibers_[thread].position = new_stack(memory.bottom, memory.bytes, &fibers::enter);
}

void fibers::enter() {
  fibers& self = *running;
  const void* bottom = nullptr;
  std::size_t bytes = 0;
  sanitizer_enters_stack(nullptr, &bottom, &bytes);
  if (!self.main_bottom_) {
    self.main_bottom_ = bottom;
    self.main_bytes_ = bytes;
  }
  self.run_on_this_stack();
}

void fibers::run_on_this_stack() {
  const std::uint32_t stack = fibers_[block_->thread].stack;
  for (;;) {
    thread_(context_, block_->thread);
    end_thread();
    const std::uint32_t t = next();
    if (t == none) {
      go_to_main(nullptr);
    } else if (fibers_[t].stack == none) {
      fibers_[t].stack = stack;
      select(t);
    } else {
      free_stacks_.push_back(stack);  // no fiber begins on it before this one has left it
      select(t);
      go_to(t, abandoned_, nullptr);
    }
  }
}

void fibers::select(std::uint32_t thread) noexcept {
  warp_ = thread / lanes;
  lane_ = thread % lanes;
  block_->thread = thread;
}

// Continues or begins the selected fiber. `state` is the state of the stack being left, or null if its fiber ends.
void fibers::go_to(std::uint32_t thread, stack_position& from, stack_state* state) {
  const fiber& to = fibers_[thread];
  if constexpr (sanitized_fibers) {
    const fiber_stacks::stack memory = stacks_[to.stack];
    void* const next = stack_states_[to.stack].thread_sanitizer;
    // After this call, the function must not use its local variables: they may be on a fake stack of the address
    // sanitizer that no longer exists.
    sanitizer_leaves_stack(state ? &state->address_sanitizer : nullptr, memory.bottom, memory.bytes);
    sanitizer_goes_to(next);
  }
  switch_stack(from, to.position);
}

void fibers::go_to_main(stack_state* state) {
  sanitizer_leaves_stack(state ? &state->address_sanitizer : nullptr, main_bottom_, main_bytes_);
  sanitizer_goes_to(main_state_.thread_sanitizer);
  switch_stack(abandoned_, main_);
}

// Marks the running fiber as waiting at `at`.
void fibers::sleep_at(place at) noexcept {
  fibers_[block_->thread].at = at;
  if ((warps_[warp_].ready &= ~(1u << lane_)) == 0) ready_warps_ &= ~(1u << warp_);
}

// Runs other fibers until this one, which was marked as waiting, is ready again.
void fibers::wait() {
  const std::uint32_t self = block_->thread;
  const std::uint32_t t = next();  // if none can run, report_deadlock() has ended the block
  select(t);
  if (t == self) return;
  fiber& to = fibers_[t];
  if (to.stack == none) {
    const std::uint32_t stack = take_stack();
    if (stack == none) leave(TROUPE_HOST_NO_MEMORY);
    begin(t, stack);
  }
  prefetch_after(t);
  stack_state* state = sanitized_fibers ? &stack_states_[fibers_[self].stack] : nullptr;
  go_to(t, fibers_[self].position, state);
  if constexpr (sanitized_fibers) sanitizer_enters_stack(state->address_sanitizer, nullptr, nullptr);
}

// Prefetches the stack of the fiber that most likely runs after `thread`. With many fibers, each switch would otherwise
// wait for memory.
void fibers::prefetch_after(std::uint32_t thread) const noexcept {
#if defined(__x86_64__)
  const std::uint32_t after = thread + prefetch_distance;
  if (after >= block_->threads || fibers_[after].stack == none) return;
  const char* top = static_cast<const char*>(fibers_[after].position.pointer);
  for (std::size_t line = 0; line < 4; ++line) __builtin_prefetch(top + 64 * line, 1);
#else
  (void)thread;
#endif
}

// Returns the next thread to run: the next ready lane of this warp, else one of the next ready warp. Returns none if
// all have ended. Lanes that are released together continue in ascending order.
std::uint32_t fibers::next() {
  for (;;) {
    warp& w = warps_[warp_];
    if (w.ready != 0) {
      const std::uint32_t first = lane_ + 1;
      lane_ =
          (first + static_cast<std::uint32_t>(std::countr_zero(std::rotr(w.ready, static_cast<int>(first % lanes))))) %
          lanes;
      return warp_ * lanes + lane_;
    }
    if (w.released != 0) {
      w.ready = w.released;
      w.released = 0;
      ready_warps_ |= 1u << warp_;
    } else if (w.postponed != 0) {
      release_postponed(w);
    } else if (w.stepping != 0) {
      release_step(warp_);
    } else if (w.converging != 0) {
      release_converged(warp_);
    } else if (ready_warps_ != 0) {
      const std::uint32_t first = warp_ + 1;
      warp_ = (first + static_cast<std::uint32_t>(
                           std::countr_zero(std::rotr(ready_warps_, static_cast<int>(first % max_warps))))) %
              max_warps;
    } else if (live_ == 0) {
      return none;
    } else {
      report_deadlock();
    }
    lane_ = lanes - 1;  // so that the search begins with lane 0
  }
}

void fibers::end_thread() {
  warp& w = warps_[warp_];
  const std::uint32_t bit = 1u << lane_;
  w.live &= ~bit;
  if ((w.ready &= ~bit) == 0) ready_warps_ &= ~(1u << warp_);
  --live_;
  if (arrived_ != 0 && arrived_ == live_) return release_barrier();  // no lane waits in a meeting
  for (std::uint32_t rest = w.meetings; rest != 0; rest &= rest - 1) {
    const auto index = static_cast<std::uint32_t>(std::countr_zero(rest));
    const meeting& m = w.meeting_of[index];
    if ((m.mask & bit) != 0 && m.arrived == (m.mask & w.live)) complete(w, index);
  }
}

void fibers::reached_end() noexcept { ++reached_end_; }

std::uint64_t fibers::barrier(std::uint32_t predicate, const char* file, std::uint32_t line) {
  const place at{file, line};
  if (arrived_++ == 0)
    barrier_at_ = at;
  else if (!(at == barrier_at_))
    other_line_ = line;
  counted_ += predicate != 0;
  sleep_at(at);
  if (arrived_ == live_) release_barrier();
  wait();
  return barrier_result_;
}

// Releases all threads, in ascending order, so that s[t] += s[t + 1] reads the value from before the barrier.
void fibers::release_barrier() {
  if (other_line_ != 0) diverged(barrier_at_, other_line_, block_->thread, nullptr);
  if (reached_end_ != 0) diverged(barrier_at_, 0, none, "some threads have reached the end of the kernel");
  barrier_result_ = counted_ | std::uint64_t{counted_ == live_} << 32 | std::uint64_t{counted_ != 0} << 33;
  arrived_ = counted_ = 0;
  for (std::uint32_t w = 0; w < warp_count_; ++w) {
    warps_[w].ready = warps_[w].live;
    ready_warps_ |= std::uint32_t{warps_[w].live != 0} << w;
  }
  warp_ = 0;
  lane_ = lanes - 1;
}

// Ends the block: every live thread waits, and none can continue.
void fibers::report_deadlock() {
  std::uint32_t first = none, other = none;
  for (std::uint32_t t = 0; t < block_->threads; ++t) {
    if ((warps_[t / lanes].live >> t % lanes & 1) == 0) continue;
    if (first == none)
      first = t;
    else if (other == none && !(fibers_[t].at == fibers_[first].at))
      other = t;
  }
  diverged(fibers_[first].at, other == none ? 0 : fibers_[other].at.line, first,
           other == none ? "waits for threads that have ended or are not in the mask" : nullptr);
}

void fibers::diverged(place at, std::uint32_t other_line, std::uint32_t thread, const char* text) {
  block_->fault = {at.file, at.line, other_line, thread, text};
  leave(TROUPE_HOST_DIVERGED);
}

void fibers::leave(std::uint32_t status) {
  status_ = status;
  go_to_main(nullptr);
  __builtin_unreachable();
}

}  // namespace troupe::cuda_on_host

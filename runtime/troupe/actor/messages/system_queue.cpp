// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/actor/messages/system_queue.hpp>
#include <utility>

namespace troupe::detail {

namespace {

system_message* end_mark() noexcept {
  static constinit system_message mark;
  return &mark;
}

}  // namespace

bool system_queue::push(std::unique_ptr<system_message> message) noexcept {
  system_message* newest = newest_.load();
  do {
    if (newest == end_mark()) return false;
    message->next = newest;
  } while (!newest_.compare_exchange_weak(newest, message.get()));
  (void)message.release();
  return true;
}

std::unique_ptr<system_message> system_queue::take_oldest() noexcept {
  if (!oldest_) {
    system_message* newest = newest_.exchange(nullptr);
    while (newest) {
      system_message* const older = newest->next;
      newest->next = oldest_;
      oldest_ = newest;
      newest = older;
    }
  }
  return std::unique_ptr<system_message>(std::exchange(oldest_, oldest_->next));
}

void system_queue::close() noexcept {
  clear();
  system_message* rest = newest_.exchange(end_mark());
  while (rest) delete std::exchange(rest, rest->next);
}

}  // namespace troupe::detail

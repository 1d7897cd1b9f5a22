// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <chrono>
#include <system_error>
#include <troupe/base/clock.hpp>
#include <troupe/base/threads/start_thread.hpp>
#include <troupe/device/workers/send_queue.hpp>
#include <utility>

namespace troupe {

static constexpr std::int64_t longest_wait_ns = 1'000'000'000;

result<void> send_queue::send(const message& l, std::int64_t deadline_ns) {
  const int fd = l.enclosed ? l.enclosed->fd() : -1;
  return to_.send(l.packet, std::span(&fd, fd >= 0 ? 1 : 0), deadline_ns);
}

result<void> send_queue::post(std::vector<std::byte> packet, std::shared_ptr<const memory_file> enclosed) {
  message next{std::move(packet), std::move(enclosed)};
  const std::scoped_lock guard(sending_);
  if (messages_.empty()) {
    auto sent = send(next, 0);
    if (sent || sent.error().reaction() != reaction::retry_later) return sent;
    lacks_ = sent.error().code() == ETOOMANYREFS;
    waits_since_ns_ = now_ns();
  } else if (reads_ && !lacks_ && now_ns() - waits_since_ns_ > longest_wait_ns) {
    return error(reaction::retry_later, "device",
                 "message not sent: the worker has received no message for a second, though others are queued");
  }
  messages_.push_back(std::move(next));
  if (!reads_) return {};
  auto started = start_delivery();
  if (!started) messages_.pop_back();
  return started;
}

bool send_queue::post_at_once(std::span<const std::byte> packet) {
  const std::unique_lock guard(sending_, std::try_to_lock);  // the thread that holds it may be waiting for room
  return guard && static_cast<bool>(to_.send(packet, {}, 0));
}

result<void> send_queue::deliver() {
  const std::scoped_lock guard(sending_);
  if (std::exchange(reads_, true) || messages_.empty()) return {};
  waits_since_ns_ = now_ns();
  return start_delivery();
}

// The caller holds sending_.
result<void> send_queue::start_delivery() {
  if (delivers_) return {};
  if (sender_.joinable()) sender_.join();  // it has nothing left to do
  try {
    delivers_ = true;
    sender_ = start_thread([this] { deliver_all(); });
  } catch (const std::system_error& e) {
    delivers_ = false;
    return error::from_errno(reaction::retry_later, "device", "starting a thread that sends messages to the worker",
                             e.code().value());
  }
  return {};
}

// Waits for room in the socket, because the worker reads only as fast as it maps the memory.
void send_queue::deliver_all() noexcept {
  std::unique_lock guard(sending_);
  while (!ended_ && !messages_.empty()) {
    const message& next = messages_.front();  // stays valid while others are appended
    guard.unlock();
    const auto sent = send(next, no_deadline);
    // If too many descriptors are in flight, tries again after a while: Linux does not report when they are received.
    const bool passes = !sent && sent.error().reaction() == reaction::retry_later;
    if (passes) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    guard.lock();
    lacks_ = passes;
    if (sent) waits_since_ns_ = now_ns();
    if (sent)
      messages_.pop_front();
    else if (!passes)
      return to_.shut_down();  // the worker must not miss a message, so it must end
  }
  delivers_ = false;
}

void send_queue::end() noexcept {
  {
    const std::scoped_lock guard(sending_);
    ended_ = true;
  }
  to_.shut_down();
  if (sender_.joinable()) sender_.join();
}

}  // namespace troupe

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>

#include <chrono>
#include <cstddef>
#include <random>
#include <span>
#include <string>
#include <troupe/protocol/control.hpp>
#include <troupe/protocol/shared_memory.hpp>
#include <vector>

#include "stage_page.hpp"

namespace adversary {

/// The functions of the C library, without the hooks of this library.
struct real_calls {
  ssize_t (*sendmsg)(int, const msghdr*, int) = nullptr;
  ssize_t (*recvmsg)(int, msghdr*, int) = nullptr;
};
extern real_calls real;

/// The words of the report ring, whose layout is otherwise private to ring.cpp.
class report_ring {
 public:
  explicit report_ring(const troupe::protocol::view& v) noexcept
      : base_(v.reports().data()), size_(v.reports().size()) {}

  std::atomic<std::uint64_t>& tail() const noexcept { return word(128); }
  std::uint64_t granules() const noexcept { return (size_ - header_bytes) / 64; }
  std::byte* record(std::uint64_t position) const noexcept { return base_ + header_bytes + position % granules() * 64; }
  /// Returns the first word of a record, which is its position plus 1 after it was published.
  std::atomic<std::uint64_t>& stamp(std::uint64_t position) const noexcept {
    return *reinterpret_cast<std::atomic<std::uint64_t>*>(record(position));
  }
  /// Returns the largest number of a report that is still in the memory, read or not.
  std::uint64_t newest_number(std::uint32_t capacity) const noexcept;
  std::span<std::byte> records() const noexcept { return {base_ + header_bytes, size_ - header_bytes}; }

 private:
  static constexpr std::size_t header_bytes = 384;
  std::atomic<std::uint64_t>& word(std::size_t at) const noexcept {
    return *reinterpret_cast<std::atomic<std::uint64_t>*>(base_ + at);
  }
  std::byte* base_;
  std::size_t size_;
};

/// A worker's process, as an attack sees it: everything that it shares with the application.
struct hostile_worker {
  static constexpr int control = 3;

  stage_page* stage = nullptr;
  troupe::protocol::view view = {};
  std::byte* workers_page = nullptr;                ///< protocol::workers_page
  int questions = -1;                               ///< the socket for questions about memory
  std::vector<std::span<std::byte>> segments = {};  ///< memory of the device, mapped writable
  int listener = 0;                                 ///< the thread that receives messages
  /// the message that is about to be sent or was received; null if the moment has none
  const msghdr* message = nullptr;
  std::mt19937_64 random{1};

  /// Returns true if the worker must attack.
  bool must_attack() const noexcept;
  /// Records that an attack begins.
  void begin() noexcept;
  /// Records that it has found nothing to attack.
  void withdraw() noexcept { stage->attacks.fetch_sub(1); }
  /// Stops all threads of this process except the caller and the one that answers pings, so that none corrects what the
  /// caller writes.
  void freeze_other_threads() noexcept;
  /// Records that the worker has done something that must be impossible.
  void succeed() noexcept { stage->succeeded.fetch_add(1); }

  std::uint32_t capacity() const noexcept { return view.at.capacity; }
  report_ring reports() const noexcept { return report_ring(view); }
  std::atomic<std::uint64_t>& channel_word(std::uint64_t offset) const noexcept {
    return *reinterpret_cast<std::atomic<std::uint64_t>*>(view.base + offset);
  }
  /// Wakes every thread of the application that waits for this worker.
  void wake_application() noexcept;
  /// Finds the newest request that is running: it has started, and no lane has counted it as done. Returns false if
  /// there is none.
  bool find_running(std::uint32_t& slot, std::uint64_t& ticket) const noexcept;
};

/// Sends a packet as it is. Returns false if that failed.
bool send_packet(int socket, std::span<const std::byte> packet, std::span<const int> descriptors = {}, int flags = 0);
/// Sends a well-formed message on the control socket.
bool send_message(troupe::protocol::message kind, std::string_view text = {}, std::uint32_t reaction = 0);
std::vector<std::byte> random_bytes(hostile_worker& w, std::size_t n);
/// Sleeps, so that an attack has the intended rate.
void pause(std::chrono::microseconds time);

}  // namespace adversary

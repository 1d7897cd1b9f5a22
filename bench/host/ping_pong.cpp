// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <atomic>
#include <bench/host/ping_pong.hpp>
#include <new>
#include <troupe/base/clock.hpp>
#include <troupe/channel/memory_file.hpp>

namespace troupe::bench {
namespace {

constexpr std::int64_t spin_ns = 200'000;

// One direction: a number that increases, and whether a thread sleeps until it changes.
struct alignas(128) word {
  std::atomic<std::uint32_t> value{0}, sleeping{0};

  void send() noexcept {
    value.fetch_add(1, std::memory_order_seq_cst);
    if (sleeping.load(std::memory_order_seq_cst) != 0) ::syscall(SYS_futex, &value, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  }

  void receive(std::uint32_t old, bool spinning) noexcept {
    if (spinning) {
      const std::int64_t until = now_ns() + spin_ns;
      do {
        for (int i = 0; i < 16; ++i) {
          if (value.load(std::memory_order_acquire) != old) return;
          spin_hint();
        }
      } while (now_ns() < until);
    }
    sleeping.store(1, std::memory_order_seq_cst);
    while (value.load(std::memory_order_seq_cst) == old)
      ::syscall(SYS_futex, &value, FUTEX_WAIT, old, nullptr, nullptr, 0);
    sleeping.store(0, std::memory_order_relaxed);
  }
};

}  // namespace

struct ping_pong::page {
  word there, back;
  bool spinning = false;
};

ping_pong::ping_pong(bool spinning) : ping_pong(spinning, memory_file::create("troupe-bench", sizeof(page))) {}

ping_pong::ping_pong(bool spinning, result<memory_file> file)
    : memory_(mapping::map(file.value(), map_access::read_write).value()),
      page_(new(memory_.data()) page{.there = {}, .back = {}, .spinning = spinning}),
      peer_(process::launch({.path = "/proc/self/exe", .args = {std::string(peer_argument)}, .control_fd = file->fd()})
                .value()) {
  round_trip();
}

ping_pong::~ping_pong() = default;

void ping_pong::round_trip() noexcept {
  const std::uint32_t old = page_->back.value.load(std::memory_order_relaxed);
  page_->there.send();
  page_->back.receive(old, page_->spinning);
}

int ping_pong::run_peer() {
  if (!die_with_parent(::getppid())) return 1;
  auto file = memory_file::open(file_descriptor(process::control_descriptor), sizeof(page));
  if (!file) return 1;
  auto seen = mapping::map(*file, map_access::read_write);
  if (!seen) return 1;
  auto& shared = *reinterpret_cast<page*>(seen->data());
  for (std::uint32_t old = 0;; ++old) {
    shared.there.receive(old, shared.spinning);
    shared.back.send();
  }
}

}  // namespace troupe::bench

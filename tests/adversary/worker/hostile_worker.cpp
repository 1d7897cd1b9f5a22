// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "hostile_worker.hpp"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>
#include <troupe/base/clock.hpp>
#include <troupe/base/linux/futex.hpp>
#include <troupe/protocol/report.hpp>

namespace adversary {

using namespace troupe;

real_calls real;

bool hostile_worker::must_attack() const noexcept {
  const std::int32_t who = stage->attacker.load();
  return who == stage_page::everybody || who == ::getpid();
}

void hostile_worker::begin() noexcept {
  stage->begun_ns.store(now_ns());
  stage->attacks.fetch_add(1);
}

void hostile_worker::wake_application() noexcept {
  for (std::atomic<std::uint32_t>* word : {&view.page().epoch, &view.page().idle_epoch}) {
    word->fetch_add(1);
    futex_wake(*word, futex_scope::shared);
  }
}

bool hostile_worker::find_running(std::uint32_t& slot, std::uint64_t& ticket) const noexcept {
  const auto is_counted = [this](std::uint64_t entry) {
    for (std::uint32_t lane = 0; lane < max_lanes; ++lane) {
      const std::uint64_t done = view.page().lanes[lane].done.load();
      for (std::uint64_t n = done; n > 0 && done - n < capacity(); --n)
        if (view.log(lane, n).load() == entry) return true;
    }
    return false;
  };
  ticket = 0;
  for (std::uint32_t i = 0; i < capacity(); ++i) {
    const std::uint64_t word = view.slot(i).load(), of = protocol::ticket_of(word);
    if (protocol::phase_of(word) != protocol::phase::started || of <= ticket) continue;
    if (is_counted(protocol::log_word(of, i))) continue;
    ticket = of;
    slot = i;
  }
  return ticket != 0;
}

void hostile_worker::freeze_other_threads() noexcept {
  struct sigaction sleep{};
  sleep.sa_handler = [](int) {
    while (true) ::pause();
  };
  ::sigaction(SIGUSR2, &sleep, nullptr);
  const auto own = static_cast<int>(::syscall(SYS_gettid));
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task"))
    if (const int id = std::atoi(thread.path().filename().c_str()); id != own && id != listener)
      ::syscall(SYS_tgkill, ::getpid(), id, SIGUSR2);
}

std::uint64_t report_ring::newest_number(std::uint32_t capacity) const noexcept {
  std::uint64_t newest = 0;
  for (std::uint64_t i = 0; i < granules(); ++i) {
    protocol::report_header head;
    std::memcpy(&head, record(i) + 16, sizeof head);
    // Memory that contains no report most probably has no such slot, ticket and reaction.
    if (head.slot < capacity && head.ticket != 0 && head.ticket < 1u << 30 && head.reserved == 0 && head.reaction < 6 &&
        head.number < 1u << 30)
      newest = std::max(newest, head.number);
  }
  return newest;
}

bool send_packet(int socket, std::span<const std::byte> packet, std::span<const int> descriptors, int flags) {
  iovec io{.iov_base = const_cast<std::byte*>(packet.data()), .iov_len = packet.size()};
  msghdr header{};
  header.msg_iov = &io;
  header.msg_iovlen = 1;
  alignas(cmsghdr) char room[CMSG_SPACE(253 * sizeof(int))] = {};
  if (!descriptors.empty()) {
    header.msg_control = room;
    header.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* const c = CMSG_FIRSTHDR(&header);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(c), descriptors.data(), descriptors.size_bytes());
  }
  return real.sendmsg(socket, &header, MSG_NOSIGNAL | flags) >= 0;
}

bool send_message(protocol::message kind, std::string_view text, std::uint32_t reaction) {
  protocol::control_message m{};
  m.kind = kind;
  m.reaction = reaction;
  return send_packet(hostile_worker::control, protocol::packet_of(m, text));
}

std::vector<std::byte> random_bytes(hostile_worker& w, std::size_t n) {
  std::vector<std::byte> out(n);
  for (std::byte& b : out) b = static_cast<std::byte>(w.random());
  return out;
}

void pause(std::chrono::microseconds time) { std::this_thread::sleep_for(time); }

}  // namespace adversary

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cerrno>
#include <chrono>
#include <optional>
#include <thread>
#include <troupe/base/clock.hpp>
#include <troupe/base/futex.hpp>
#include <troupe/base/try.hpp>
#include <troupe/device/workers/allocation_client.hpp>

namespace troupe {
namespace {

// One question at a time; nobody's when the time is over before it begins.
class turn {
 public:
  turn(std::atomic<std::uint32_t>& busy, std::int64_t deadline_ns) noexcept : busy_(busy) {
    while (!(mine_ = busy_.exchange(1) == 0) && now_ns() < deadline_ns)
      futex_wait(busy_, 1, futex_scope::process, deadline_ns);
  }
  turn(const turn&) = delete;
  ~turn() {
    if (!mine_) return;
    busy_.store(0);
    futex_wake(busy_, futex_scope::process);
  }
  explicit operator bool() const noexcept { return mine_; }

 private:
  std::atomic<std::uint32_t>& busy_;
  bool mine_ = false;
};

}  // namespace

error allocation_client::late(std::string text) {
  return error({.reaction = reaction::retry_later, .domain = "memory", .code = ETIMEDOUT, .text = std::move(text)});
}

result<file_descriptor> allocation_client::make(std::uint64_t bytes, std::int64_t deadline_ns) {
  auto made = ask({protocol::wanted::memory, bytes, 0, 0}, nullptr, deadline_ns);
  return made ? result(std::move(made->memory)) : made.error();
}

result<file_descriptor> allocation_client::try_to_open(const file_descriptor& memory, std::uint64_t bytes,
                                                       std::int64_t deadline_ns) {
  auto opened = ask({protocol::wanted::memory, bytes, 0, 0}, &memory, deadline_ns);
  return opened ? result(std::move(opened->memory)) : opened.error();
}

result<std::uint64_t> allocation_client::make_managed(std::uint64_t bytes, std::int64_t deadline_ns) {
  auto made = ask({protocol::wanted::managed, bytes, 0, 0}, nullptr, deadline_ns);
  return made ? result(made->address) : made.error();
}

// What it cannot be told now, it is told with what comes next.
void allocation_client::release_managed(std::uint64_t address) noexcept {
  const std::scoped_lock guard(sending_);
  unwanted_.push_back(address);
  tell_unwanted();
}

// With sending_ held.
void allocation_client::tell_unwanted() noexcept {
  while (worker_ && !unwanted_.empty()) {
    const protocol::wanted_memory unwanted{protocol::wanted::release, 0, unwanted_.back(), 0};
    if (!worker_.send(protocol::packet_of(unwanted), {}, 0)) return;
    unwanted_.pop_back();
  }
}

result<allocation_client::answer> allocation_client::ask(protocol::wanted_memory wanted, const file_descriptor* opens,
                                                         std::int64_t deadline_ns) {
  const std::string call = opens != nullptr ? "import: " : "alloc: ";
  const auto gone = [&](const char* how) {
    return error(reaction::context_lost, "memory", call + "the worker that was to see to the memory " + how);
  };
  const auto too_late = [&] {
    return late(call + "the worker has not seen to the memory within device_options::start_timeout; ask again");
  };
  const turn mine(busy_, deadline_ns);
  if (!mine) return too_late();
  if (!worker_) return gone("did not answer");
  wanted.number = ++asked_;
  const int fd = opens != nullptr ? opens->get() : -1;
  while (true) {
    bool too_many_descriptors = false;
    {
      const std::scoped_lock now(sending_);
      tell_unwanted();
      const auto sent = worker_.send(protocol::packet_of(wanted), std::span(&fd, opens != nullptr ? 1 : 0), 0);
      if (sent) break;
      if (sent.error().reaction() != reaction::retry_later) return sent.error();
      too_many_descriptors = sent.error().code() == ETOOMANYREFS;
    }
    // The worker has not read the questions of before. A thread that returns managed memory must not wait for that, so
    // the lock is not held here; only the thread whose turn it is gives the socket up.
    if (!TROUPE_TRY(worker_.wait_for_room(deadline_ns)) || now_ns() >= deadline_ns) return too_late();
    if (too_many_descriptors)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));  // nobody tells when it is over
  }
  const auto leave = [&](const char* how) {
    const std::scoped_lock now(sending_);
    gone_.store(true);
    worker_ = {};
    return gone(how);
  };
  std::array<std::byte, 4096> packet;
  result<control_socket::received> got = control_socket::received{};
  std::optional<protocol::parsed_answer> heard;
  while (true) {
    got = worker_.receive(packet, 1, deadline_ns);
    // The answer is lost, and with it the memory; the worker that made it makes more.
    if (!got && got.error().reaction() == reaction::retry_later)
      return error(reaction::retry_later, "memory", call + got.error().text());
    if (!got) return leave(("wrote nonsense: " + got.error().text()).c_str());
    if (got->outcome == control_socket::outcome::timed_out) return too_late();
    if (got->outcome == control_socket::outcome::closed) return leave("has ended");
    heard = protocol::parse_answer(std::span(packet.data(), got->bytes));
    if (!heard) return leave("wrote nonsense");
    const protocol::made_memory& head = heard->head;
    if (head.number > wanted.number || head.number <= heard_) return leave("wrote nonsense");
    heard_ = head.number;
    if (head.number == wanted.number) break;
    // It comes too late for the caller.
    if (head.made == 1 && head.address != 0) release_managed(head.address);
  }
  const protocol::made_memory& head = heard->head;
  const bool managed = wanted.what == protocol::wanted::managed;
  if (head.made == 1 && managed && got->fds.empty() && head.address != 0) return answer{{}, head.address};
  if (head.made == 1 && opens != nullptr && got->fds.empty()) return answer{};
  if (head.made == 1 && opens == nullptr && !managed && got->fds.size() == 1) return answer{std::move(got->fds[0]), 0};
  if (head.made != 0) return leave("wrote nonsense");
  return error(static_cast<reaction>(head.reaction), "memory", call + heard->text);
}

}  // namespace troupe

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <array>
#include <cerrno>
#include <chrono>
#include <optional>
#include <thread>
#include <troupe/base/clock.hpp>
#include <troupe/base/linux/futex.hpp>
#include <troupe/base/try.hpp>
#include <troupe/device/workers/allocation_client.hpp>

namespace troupe {
namespace {

// Lets one question be asked at a time. Converts to false if the deadline passes first.
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

// Refuses a socket as memory: closing it takes as long as the other process wants, and memory may be released on any
// thread.
bool is_socket(const file_descriptor& fd) noexcept {
  struct stat status{};
  return ::fstat(fd.get(), &status) != 0 || S_ISSOCK(status.st_mode);
}

}  // namespace

error allocation_client::timeout_error(std::string text) {
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

// Sends the release. If it cannot be sent now, it is sent with the next message.
void allocation_client::release_managed(std::uint64_t address) noexcept {
  const std::scoped_lock guard(sending_);
  to_release_.push_back(address);
  send_releases();
}

// The caller holds sending_.
void allocation_client::send_releases() noexcept {
  while (worker_ && !to_release_.empty()) {
    const protocol::wanted_memory unwanted{protocol::wanted::release, 0, to_release_.back(), 0};
    if (!worker_.send(protocol::packet_of(unwanted), {}, 0)) return;
    to_release_.pop_back();
  }
}

result<allocation_client::answer> allocation_client::ask(protocol::wanted_memory wanted, const file_descriptor* opens,
                                                         std::int64_t deadline_ns) {
  const std::string call = opens != nullptr ? "import_memory: " : "alloc: ";
  const auto gone = [&](const char* how) {
    return error(reaction::context_lost, "memory", call + "the worker that was asked for the memory " + how);
  };
  const auto too_late = [&] {
    return timeout_error(call + "the worker did not answer within device_options::start_timeout; try again");
  };
  const turn mine(busy_, deadline_ns);
  if (!mine) return too_late();
  if (!worker_) return gone("did not answer");
  const auto give_up = [&](const char* how) {
    const std::scoped_lock now(sending_);
    gone_.store(true);
    worker_.close_elsewhere();
    return gone(how);
  };
  const auto closed = [&] {
    tell_("");
    return give_up("has ended");
  };
  wanted.number = ++last_asked_;
  const int fd = opens != nullptr ? opens->get() : -1;
  while (true) {
    bool too_many_descriptors = false, is_closed = false;
    {
      const std::scoped_lock now(sending_);
      send_releases();
      const auto sent = worker_.send(protocol::packet_of(wanted), std::span(&fd, opens != nullptr ? 1 : 0), 0);
      if (sent) break;
      is_closed = sent.error().reaction() == reaction::context_lost;
      if (!is_closed && sent.error().reaction() != reaction::retry_later) return sent.error();
      too_many_descriptors = sent.error().code() == ETOOMANYREFS;
    }
    if (is_closed) return closed();
    // The worker has not read earlier questions. The lock is not held here, because a thread that releases managed
    // memory must not wait. The socket stays open meanwhile: only the thread whose turn it is closes it.
    if (!TROUPE_TRY(worker_.wait_for_room(deadline_ns)) || now_ns() >= deadline_ns) return too_late();
    if (too_many_descriptors)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));  // nothing reports when descriptors become free
  }
  const auto violated = [&](const std::string& how) {
    tell_("the worker that was asked for memory sent an invalid answer" + how);
    return give_up(("sent an invalid answer" + how).c_str());
  };
  std::array<std::byte, 4096> packet;
  result<control_socket::received> got = control_socket::received{};
  std::optional<protocol::parsed_answer> parsed;
  while (true) {
    got = worker_.receive(packet, 1, deadline_ns);
    // The answer is lost, and with it the memory. The worker can still be asked.
    if (!got && got.error().reaction() == reaction::retry_later)
      return error(reaction::retry_later, "memory", call + got.error().text());
    if (!got) return violated(": " + got.error().text());
    if (got->outcome == control_socket::outcome::timed_out) return too_late();
    if (got->outcome == control_socket::outcome::closed) return closed();
    parsed = protocol::parse_answer(std::span(packet.data(), got->bytes));
    if (!parsed) return violated("");
    const protocol::made_memory& head = parsed->head;
    if (head.number > wanted.number || head.number <= last_answered_) return violated("");
    last_answered_ = head.number;
    if (head.number == wanted.number) break;
    // The answer to an earlier question, whose caller no longer waits.
    if (head.made == 1 && head.address != 0) release_managed(head.address);
  }
  const protocol::made_memory& head = parsed->head;
  const bool managed = wanted.what == protocol::wanted::managed;
  if (head.made == 1 && managed && got->fds.empty() && head.address != 0) return answer{{}, head.address};
  if (head.made == 1 && opens != nullptr && got->fds.empty()) return answer{};
  if (head.made == 1 && opens == nullptr && !managed && got->fds.size() == 1 && !is_socket(got->fds[0]))
    return answer{std::move(got->fds[0]), 0};
  if (head.made != 0) return violated("");
  return error(static_cast<reaction>(head.reaction), "memory", call + parsed->text);
}

}  // namespace troupe

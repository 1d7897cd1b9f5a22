// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>
#include <troupe/device/internal/memory_maker.hpp>
#include <troupe/device/internal/report.hpp>
#include <troupe/worker/internal/protocol.hpp>

namespace troupe {

result<file_descriptor> memory_maker::make(std::uint64_t bytes, std::int64_t deadline_ns) {
  auto made = ask({protocol::wanted::memory, bytes, 0}, nullptr, deadline_ns);
  return made ? result(std::move(made->memory)) : made.error();
}

result<file_descriptor> memory_maker::try_to_open(const file_descriptor& memory, std::uint64_t bytes,
                                                  std::int64_t deadline_ns) {
  auto opened = ask({protocol::wanted::memory, bytes, 0}, &memory, deadline_ns);
  return opened ? result(std::move(opened->memory)) : opened.error();
}

result<std::uint64_t> memory_maker::make_managed(std::uint64_t bytes, std::int64_t deadline_ns) {
  auto made = ask({protocol::wanted::managed, bytes, 0}, nullptr, deadline_ns);
  return made ? result(made->address) : made.error();
}

// One that cannot be told keeps the memory until it ends.
void memory_maker::release_managed(std::uint64_t address) noexcept {
  const protocol::wanted_memory unwanted{protocol::wanted::release, 0, address};
  const std::scoped_lock guard(sending_);
  if (worker_) (void)worker_.send(std::as_bytes(std::span(&unwanted, 1)), {}, 0);
}

result<memory_maker::answer> memory_maker::ask(const protocol::wanted_memory& wanted, const file_descriptor* opens,
                                               std::int64_t deadline_ns) {
  const char* const call = opens != nullptr ? "import: " : "alloc: ";
  const auto gone = [call](const char* how) {
    return error(reaction::context_lost, "memory",
                 std::string(call) + "the worker that was to see to the memory " + how);
  };
  const std::scoped_lock guard(lock_);
  if (!worker_) return gone("did not answer");
  const int fd = opens != nullptr ? opens->get() : -1;
  const auto send = [&] {
    const std::scoped_lock now(sending_);
    return worker_.send(std::as_bytes(std::span(&wanted, 1)),
                        opens != nullptr ? std::span<const int>(&fd, 1) : std::span<const int>(), deadline_ns);
  };
  if (auto sent = send(); !sent) return sent.error();
  std::array<std::byte, 4096> packet;
  auto got = worker_.receive(packet, 1, deadline_ns);
  // An answer that comes late, or is none, must not be taken for that to a later question.
  const auto leave = [&](const char* how) {
    const std::scoped_lock now(sending_);
    worker_ = {};
    return gone(how);
  };
  if (!got) return leave("wrote nonsense");
  if (got->outcome == control_socket::outcome::timed_out) return leave("did not answer in time");
  if (got->outcome == control_socket::outcome::closed) return leave("has ended");
  protocol::made_memory head;
  if (got->bytes < sizeof head) return leave("wrote nonsense");
  std::memcpy(&head, packet.data(), sizeof head);
  const bool managed = wanted.what == protocol::wanted::managed;
  if (head.made == 1 && managed && got->fds.empty() && head.address != 0) return answer{{}, head.address};
  if (head.made == 1 && opens != nullptr && got->fds.empty()) return answer{};
  if (head.made == 1 && opens == nullptr && !managed && got->fds.size() == 1) return answer{std::move(got->fds[0]), 0};
  if (head.made != 0 || head.reaction > static_cast<std::uint32_t>(reaction::fatal)) return leave("wrote nonsense");
  std::string text(reinterpret_cast<const char*>(packet.data()) + sizeof head, got->bytes - sizeof head);
  make_printable(text);
  return error(static_cast<reaction>(head.reaction), "memory", call + text);
}

}  // namespace troupe

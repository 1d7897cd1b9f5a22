// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>
#include <troupe/device/internal/memory_maker.hpp>
#include <troupe/device/internal/report.hpp>
#include <troupe/worker/internal/protocol.hpp>

namespace troupe {

result<file_descriptor> memory_maker::make(std::uint64_t bytes, std::int64_t deadline_ns) {
  const auto gone = [](const char* how) {
    return error(reaction::context_lost, "memory", std::string("alloc: the worker that was to make the memory ") + how);
  };
  const std::scoped_lock guard(lock_);
  if (!worker_) return gone("did not answer");
  const protocol::wanted_memory wanted{bytes};
  if (auto sent = worker_.send(std::as_bytes(std::span(&wanted, 1)), {}, deadline_ns); !sent) return sent.error();
  std::array<std::byte, 4096> packet;
  auto got = worker_.receive(packet, 1, deadline_ns);
  // An answer that comes late, or is none, must not be taken for that to a later question.
  const auto leave = [&](const char* how) {
    worker_ = {};
    return gone(how);
  };
  if (!got) return leave("wrote nonsense");
  if (got->outcome == control_socket::outcome::timed_out) return leave("did not answer in time");
  if (got->outcome == control_socket::outcome::closed) return leave("has ended");
  protocol::made_memory head;
  if (got->bytes < sizeof head) return leave("wrote nonsense");
  std::memcpy(&head, packet.data(), sizeof head);
  if (head.made == 1 && got->fds.size() == 1) return std::move(got->fds[0]);
  if (head.made != 0 || head.reaction > static_cast<std::uint32_t>(reaction::fatal)) return leave("wrote nonsense");
  std::string text(reinterpret_cast<const char*>(packet.data()) + sizeof head, got->bytes - sizeof head);
  make_printable(text);
  return error(static_cast<reaction>(head.reaction), "memory", "alloc: " + text);
}

}  // namespace troupe

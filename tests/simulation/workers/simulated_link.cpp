// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "simulated_link.hpp"

#include <csignal>

namespace troupe::simulation {

simulated_link::simulated_link(std::shared_ptr<simulated_worker> w) : worker_(std::move(w)) {
  ++alive;
  worker_->held = true;
}

simulated_link::~simulated_link() {
  --alive;
  worker_->held = false;
  worker_->socket_closed = true;
  if (worker_->isolation == isolation::thread || !worker_->launched) worker_->die({exit_status::ending::exited, 0});
}

result<void> simulated_link::greet(const protocol::greeting& hello, const memory_file& mailbox, const memory_file&) {
  worker_->receive_greeting(hello.settings, mailbox);
  return {};
}

result<void> simulated_link::launch(const std::string&, const std::vector<std::string>&) {
  if (worker_->cannot_launch) return error(reaction::retry_later, "simulation", "no process can be started");
  worker_->launched = true;
  worker_->environment().record.note("worker launched", worker_->id);
  return {};
}

result<void> simulated_link::send_map(std::uint64_t address, const std::shared_ptr<const memory_file>& memory,
                                      std::uint32_t number, bool read_only) {
  worker_->missed_memory |= worker_->deaf;
  worker_->lacks |= worker_->deaf && !worker_->launched;
  if (worker_->deaf) return error(reaction::retry_later, "simulation", "the worker does not read its messages");
  worker_->environment().place(address, *memory, read_only);
  worker_->inbox.push_back({protocol::message::map, {address, memory->size(), number}, {}});
  return {};
}

// Memory that one worker can only read is writable in another. All are in this process, so each records its own pages.
result<void> simulated_link::send_protect(const protocol::protected_place& place, std::uint32_t number,
                                          bool read_only) {
  worker_->missed_memory |= worker_->deaf;
  if (worker_->deaf) return error(reaction::retry_later, "simulation", "the worker does not read its messages");
  worker_->inbox.push_back({protocol::message::protect, {place.address, place.bytes, number, read_only}, {}});
  return {};
}

result<void> simulated_link::send_protected(std::span<const protocol::protected_place> all, std::uint32_t number) {
  worker_->inbox.push_back({protocol::message::protect, {0, 0, number}, {}, {all.begin(), all.end()}});
  return {};
}

result<void> simulated_link::send_unmap(std::uint64_t address, std::uint32_t number) {
  if (worker_->deaf) return error(reaction::retry_later, "simulation", "the worker does not read its messages");
  worker_->inbox.push_back({protocol::message::unmap, {address, 0, number}, {}});
  return {};
}

result<void> simulated_link::send_serve(const protocol::service& s) {
  if (worker_->mute || worker_->dead) return error(reaction::context_lost, "simulation", "the socket is closed");
  worker_->inbox.push_back({protocol::message::serve, {}, s});
  return {};
}

void simulated_link::send_stop() noexcept {
  worker_->asked_to_stop = true;
  if (!worker_->mute) worker_->inbox.push_back({protocol::message::stop, {}, {}});
}

void simulated_link::send_ping() noexcept {
  if (worker_->ping_sent == 0) worker_->ping_sent = worker_->environment().now();
  if (worker_->deaf) {
    worker_->ping_dropped = worker_->environment().now();
  } else if (!worker_->mute) {
    worker_->pinged = true;
    worker_->inbox.push_back({protocol::message::ping, {}, {}});
  }
}

result<void> simulated_link::send_load(const std::string&) { return {}; }

void simulated_link::kill() noexcept {
  if (worker_->isolation == isolation::thread) return;
  worker_->environment().worker_killed(*worker_);
  worker_->kill_wanted = true;
  if (!worker_->unkillable) worker_->die({exit_status::ending::signalled, SIGKILL});
}

worker_link::message simulated_link::receive() {
  if (worker_->send_queue.empty()) return {worker_->socket_closed ? message::kind::gone : message::kind::none, {}, {}};
  message n = std::move(worker_->send_queue.front());
  worker_->send_queue.pop_front();
  if (n.kind == message::kind::pong) worker_->ping_sent = 0, worker_->pinged = false;
  return n;
}

// The device calls it twice: to prepare the channel, and when the worker is about to serve.
const std::shared_ptr<const memory_file>& simulated_link::channel() const noexcept {
  if (worker_->launched) worker_->environment().worker_will_serve(*worker_);
  return worker_->channel;
}

std::optional<exit_status> simulated_link::ended() noexcept {
  if (worker_->isolation == isolation::thread || !worker_->exit_shows) return {};
  return worker_->status;
}

// Nothing here blocks, so the device needs no thread for workers that do not end.
bool simulated_link::has_ended(std::int64_t) noexcept {
  kill();
  return true;
}

}  // namespace troupe::simulation

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// A fake worker. The file `mode` beside the program selects what it does instead of serving requests.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <troupe/channel/control_socket.hpp>
#include <troupe/channel/process/process.hpp>
#include <troupe/protocol/control.hpp>
#include <troupe/protocol/memory_question.hpp>
#include <troupe/protocol/shared_memory.hpp>
#include <vector>

namespace {

using namespace troupe;

void say(control_socket& to, protocol::message kind, std::uint32_t reaction, const std::string& text) {
  protocol::control_message m{};
  m.kind = kind;
  m.reaction = reaction;
  (void)to.send(protocol::packet_of(m, text));
}

// Answers the first request for memory with an address that is already in use.
void give_away(const control_socket::received& hello, std::span<const std::byte> packet) {
  protocol::control_message m;
  std::memcpy(&m, packet.data(), sizeof m);
  auto asked = control_socket::adopt(file_descriptor(::dup(hello.fds[protocol::greeting_descriptor::questions].get())));
  protocol::wanted_memory wanted;
  if (!asked || !asked->receive(std::as_writable_bytes(std::span(&wanted, 1)), 1)) return;
  const protocol::made_memory made{
      .made = 1, .reaction = 0, .address = m.settings.reserve_begin, .number = wanted.number};
  (void)asked->send(protocol::packet_of(made));
}

// Reports that it has loaded two engines, of which only one exists, and records which engines it is told to load.
int boast(control_socket& to, const std::filesystem::path& folder) {
  say(to, protocol::message::ready, 0, "");
  for (const char* library : {"nonesuch", "real"}) say(to, protocol::message::loaded, 0, library);
  std::vector<std::byte> packet(protocol::most_message_bytes);
  while (true) {
    const auto got = to.receive(packet, 1);
    if (!got || got->outcome != control_socket::outcome::message) return 0;
    const auto message = protocol::parse_message(std::span(packet.data(), got->bytes));
    if (!message || message->head.kind == protocol::message::stop) return 0;
    if (message->head.kind == protocol::message::load)
      std::ofstream(folder / "loads", std::ios::app) << message->text + "\n" << std::flush;
  }
}

// Sends a connection whose close waits for as long as the other side does not read. The application has the only
// reference to it.
void send_lingering(control_socket& to) {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0), sent = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  if (::bind(listener, reinterpret_cast<sockaddr*>(&at), size) != 0 || ::listen(listener, 1) != 0 ||
      ::getsockname(listener, reinterpret_cast<sockaddr*>(&at), &size) != 0 ||
      ::connect(sent, reinterpret_cast<sockaddr*>(&at), size) != 0)
    ::_exit(5);
  (void)::accept(listener, nullptr, nullptr);
  const std::string data(1 << 16, 'x');
  while (::send(sent, data.data(), data.size(), MSG_DONTWAIT | MSG_NOSIGNAL) > 0) {
  }
  const linger ten_seconds{.l_onoff = 1, .l_linger = 10};
  (void)::setsockopt(sent, SOL_SOCKET, SO_LINGER, &ten_seconds, sizeof ten_seconds);
  (void)to.send(protocol::packet_of({.kind = protocol::message::pong, .reaction = 0, .serving = {}}),
                std::span(&sent, 1));
  ::close(sent);
}

// Sends the same message for as long as the application reads.
void flood(control_socket& to, protocol::message kind, const std::string& text) {
  const auto packet = protocol::packet_of({.kind = kind, .reaction = 0, .serving = {}}, text);
  while (to.send(packet)) {
  }
}

// Answers the first question about memory with something that is no answer.
void garble(const control_socket::received& hello) {
  auto asked = control_socket::adopt(file_descriptor(::dup(hello.fds[protocol::greeting_descriptor::questions].get())));
  std::array<std::byte, sizeof(protocol::wanted_memory)> wanted;
  if (asked && asked->receive(wanted, 1)) (void)asked->send(std::as_bytes(std::span("no answer")));
}

int hang() {
  while (true) ::pause();
}

// Reports that it is ready, and then misbehaves as `mode` says. Returns an empty optional if there is no such mode.
std::optional<int> be_ready(const std::string& mode, control_socket& to, const control_socket::received& hello,
                            std::span<const std::byte> packet) {
  if (!mode.starts_with("ready ")) return {};
  say(to, protocol::message::ready, 0, "");
  if (mode == "ready twice") say(to, protocol::message::ready, 0, "");
  if (mode == "ready and gone") return 0;
  if (mode == "ready and generous") give_away(hello, packet);
  if (mode == "ready and garbles") garble(hello);
  if (mode == "ready and lingers") send_lingering(to);
  if (mode == "ready and floods pong") flood(to, protocol::message::pong, "");
  if (mode == "ready and floods loaded") flood(to, protocol::message::loaded, "library");
  if (mode == "ready and floods restarted") flood(to, protocol::message::restarted, "library");
  if (mode == "ready and floods remark") flood(to, protocol::message::remark, std::string(15'000, 'x'));
  if (mode == "ready and floods names") flood(to, protocol::message::restarted, std::string(15'000, 'x'));
  return hang();
}

}  // namespace

int main(int, char** argv) {
  std::ifstream file{std::filesystem::path(argv[0]).parent_path() / "mode"};
  std::string mode;
  std::getline(file, mode);
  auto application = control_socket::adopt(file_descriptor(process::control_descriptor));
  if (!application) return 2;
  std::vector<std::byte> packet(16 << 10);
  std::optional<control_socket::received> hello;
  if (mode != "deaf") {
    auto got = application->receive(packet, control_socket::most_fds);
    if (!got) return 3;
    hello = std::move(*got);
  }
  (void)die_with_parent(::getppid());
  if (mode == "silent" || mode == "deaf") return hang();
  if (mode == "exits") return 9;
  if (mode == "other version") {
    say(*application, protocol::message::failed, static_cast<std::uint32_t>(reaction::fatal),
        "handshake: the application speaks protocol 1, this worker 99; install application and worker from the same "
        "version of Troupe");
    return 1;
  }
  if (mode == "no reaction") {
    say(*application, protocol::message::failed, 4711, "a reaction that does not exist");
    return hang();
  }
  if (mode == "garbage") {
    for (std::size_t i = 0; i < packet.size(); ++i) packet[i] = static_cast<std::byte>(i * 31 + 7);
    (void)application->send(packet);
    return hang();
  }
  if (mode == "short") {
    (void)application->send(std::span(packet).first(3));
    return hang();
  }
  if (mode == "descriptors") {
    const int fds[] = {0, 1, 2};
    (void)application->send(std::span(packet).first(64), fds);
    return hang();
  }
  if (mode == "ready and boastful") return boast(*application, std::filesystem::path(argv[0]).parent_path());
  if (const auto code = be_ready(mode, *application, *hello, packet)) return *code;
  std::fprintf(stderr, "fake_worker: unknown mode \"%s\"\n", mode.c_str());
  return 4;
}

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// A false worker. The file `mode` beside the program says what it does instead of serving.
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <troupe/channel/control_socket.hpp>
#include <troupe/channel/process.hpp>
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

// Answers the first request for memory with an address that belongs to others.
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

// Says that it has loaded engines, one of which exists, and writes down which ones it is told to load.
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

int hang() {
  while (true) ::pause();
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
  if (mode == "ready and deaf") {
    say(*application, protocol::message::ready, 0, "");
    say(*application, protocol::message::ready, 0, "");
    return hang();
  }
  if (mode == "ready and generous") {
    say(*application, protocol::message::ready, 0, "");
    give_away(*hello, packet);
    return hang();
  }
  if (mode == "ready and boastful") return boast(*application, std::filesystem::path(argv[0]).parent_path());
  if (mode == "ready and gone") {
    say(*application, protocol::message::ready, 0, "");
    return 0;
  }
  std::fprintf(stderr, "fake_worker: unknown mode \"%s\"\n", mode.c_str());
  return 4;
}

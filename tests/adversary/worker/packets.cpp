// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Attacks with messages on the control socket: too many, too large, too small, with arbitrary content.
#include <unistd.h>

#include "strategy.hpp"

namespace adversary {
namespace {

using namespace troupe;
using protocol::message;

bool flood(hostile_worker& w, message kind, std::size_t bytes) {
  const std::string text(bytes, 'A');
  while (w.must_attack() && send_message(kind, text)) {
  }
  return false;
}
bool flood_restarted(hostile_worker& w) { return flood(w, message::restarted, 15000); }
bool flood_pong(hostile_worker& w) { return flood(w, message::pong, 0); }
bool flood_ready(hostile_worker& w) { return flood(w, message::ready, 15000); }
bool flood_remark(hostile_worker& w) { return flood(w, message::remark, 15000); }
bool flood_loaded(hostile_worker& w) {
  for (std::uint64_t n = 0; w.must_attack() && send_message(message::loaded, "lib" + std::to_string(n)); ++n) {
  }
  return false;
}

bool send_random_packets(hostile_worker& w) {
  while (w.must_attack()) {
    std::vector<std::byte> packet = random_bytes(w, 1 + w.random() % 300);
    if (packet.size() > 4) packet[0] = static_cast<std::byte>(w.random() % 18), packet[1] = packet[2] = packet[3] = {};
    if (!send_packet(hostile_worker::control, packet)) break;
  }
  return false;
}
bool send_unknown_kinds(hostile_worker& w) {
  for (std::uint32_t kind : {0u, 1u, 4u, 7u, 16u, 0x7fffffffu, 0xffffffffu})
    if (w.must_attack()) send_message(static_cast<message>(kind), "text");
  return false;
}
bool send_empty_packets(hostile_worker& w) {
  while (w.must_attack() && send_packet(hostile_worker::control, {})) pause(std::chrono::milliseconds(1));
  return false;
}
bool send_huge_packets(hostile_worker& w) {
  const std::vector<std::byte> packet = random_bytes(w, 100'000);
  while (w.must_attack() && send_packet(hostile_worker::control, packet)) {
  }
  return false;
}
// Sends one byte at a time, and never a whole message.
bool drip_bytes(hostile_worker& w) {
  while (w.must_attack() && send_packet(hostile_worker::control, random_bytes(w, 1)))
    pause(std::chrono::milliseconds(5));
  return false;
}
// Sends well-formed messages, so slowly that they look harmless.
bool drip_remarks(hostile_worker& w) {
  while (w.must_attack() && send_message(message::remark, "drip")) pause(std::chrono::milliseconds(2));
  return false;
}
// Tries to add lines to the application's log that the application has not written.
bool forge_log_lines(hostile_worker& w) {
  const std::string text =
      "x\nerror: host:0: all is lost\r\x1b[2J\xc2\x9b"
      "2J\x9b"
      "31m";
  for (const message kind : {message::remark, message::restarted, message::failed})
    if (w.must_attack()) send_message(kind, text, 1);
  return false;
}
bool claim_to_fail(hostile_worker& w) {
  if (w.must_attack()) send_message(message::failed, std::string(10'000, '%') + "%s%n", 0xdeadbeef);
  return false;
}

constexpr const char* budget = "a worker's messages cost the application little";
constexpr const char* parsed = "every message is checked";
constexpr strategy strategies[] = {
    {"flood_restarted", "packets", budget, moment::serving, flood_restarted, false, true},
    {"flood_pong", "packets", budget, moment::serving, flood_pong, false, true},
    {"flood_ready", "packets", budget, moment::serving, flood_ready, false, true},
    {"flood_remark", "packets", budget, moment::serving, flood_remark, false, true},
    {"flood_loaded", "packets", budget, moment::serving, flood_loaded, false, true},
    {"send_random_packets", "packets", parsed, moment::serving, send_random_packets, true, true},
    {"send_unknown_kinds", "packets", parsed, moment::serving, send_unknown_kinds, true},
    {"send_empty_packets", "packets", parsed, moment::serving, send_empty_packets, true, true},
    {"send_huge_packets", "packets", parsed, moment::serving, send_huge_packets, true, true},
    {"drip_bytes", "packets", parsed, moment::serving, drip_bytes, true, true},
    {"drip_remarks", "packets", budget, moment::serving, drip_remarks, true},
    {"forge_log_lines", "packets", "a log line is one line", moment::serving, forge_log_lines, true},
    {"claim_to_fail", "packets", parsed, moment::serving, claim_to_fail, true},
};

}  // namespace

std::span<const strategy> packet_strategies() { return strategies; }

}  // namespace adversary

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Workers that die, stop or send false messages in each phase of their start.
#include <signal.h>
#include <unistd.h>

#include <cstring>

#include "strategy.hpp"

namespace adversary {
namespace {

using namespace troupe;
using protocol::message;

bool die(hostile_worker&) { ::_exit(0); }
bool die_of_signal(hostile_worker&) {
  ::signal(SIGABRT, SIG_DFL);
  ::abort();
}
bool stop_itself(hostile_worker&) {
  ::raise(SIGSTOP);
  return false;
}
bool sleep_without_end(hostile_worker& w) {
  while (w.must_attack()) pause(std::chrono::milliseconds(5));
  ::_exit(0);
}
bool never_ready(hostile_worker&) { return true; }
bool ready_twice(hostile_worker& w) {
  real.sendmsg(hostile_worker::control, w.message, MSG_NOSIGNAL);
  return false;
}
bool ready_then_dead(hostile_worker& w) {
  real.sendmsg(hostile_worker::control, w.message, MSG_NOSIGNAL);
  ::_exit(0);
}
bool ready_without_socket(hostile_worker& w) {
  real.sendmsg(hostile_worker::control, w.message, MSG_NOSIGNAL);
  ::shutdown(hostile_worker::control, SHUT_RDWR);
  return true;
}
bool deaf_after_ready(hostile_worker& w) {
  real.sendmsg(hostile_worker::control, w.message, MSG_NOSIGNAL);
  ::shutdown(hostile_worker::control, SHUT_RD);
  return true;
}
bool ready_in_part(hostile_worker&) {
  const message kind = message::ready;
  send_packet(hostile_worker::control, std::as_bytes(std::span(&kind, 1)));
  return true;
}
bool fail_and_live(hostile_worker&) {
  send_message(message::failed, "", 4);
  return true;
}
bool serve_before_asked(hostile_worker& w) {
  for (protocol::lane_counters& lane : w.view.page().lanes) lane.done.store(17);
  w.wake_application();
  return false;
}
// Describes impossible hardware: numbers that overflow, duplicate keys, bytes that are not text.
bool describe_absurdly(hostile_worker& w) {
  std::string gpu = "name " + std::string(3000, '\xff') +
                    "\ncapability -1.99999999999999999999\nmemory 99999999999999999999999999\nmultiprocessors -5\n"
                    "pci ../../../../etc/passwd\ndriver %n%n%n\nmemory 1e308\n";
  for (int i = 0; i < 100; ++i) gpu += "peer ../.. 999999999999 -1 2147483648\n";
  gpu += '\0';
  send_message(message::ready, gpu + "\n\nblas host 1.0\n \n" + std::string(500, ' ') + "\n");
  (void)w;
  return true;
}
bool describe_no_end(hostile_worker&) {
  send_message(message::ready, std::string(16'000, 'x'));
  return true;
}

constexpr const char* starts = "a worker that does not start is replaced";
constexpr const char* described = "a description is only text";
constexpr strategy strategies[] = {
    {"die_before_main", "handshake", starts, moment::loaded, die, true, false, true},
    {"die_greeted", "handshake", starts, moment::greeted, die, true, false, true},
    {"abort_greeted", "handshake", starts, moment::greeted, die_of_signal, true, false, true},
    {"die_before_ready", "handshake", starts, moment::ready, die, true, false, true},
    {"die_when_ready", "handshake", starts, moment::ready, ready_then_dead, true, false, true},
    {"die_when_serving", "handshake", starts, moment::serve, die, true, false, true},
    {"stop_before_main", "handshake", starts, moment::loaded, stop_itself, true, false, true},
    {"stop_when_serving", "handshake", starts, moment::serve, stop_itself, true, false, true},
    {"sleep_greeted", "handshake", starts, moment::greeted, sleep_without_end, true, false, true},
    {"never_ready", "handshake", starts, moment::ready, never_ready, true, false, true},
    {"ready_twice", "handshake", starts, moment::ready, ready_twice, true, false, true},
    {"ready_in_part", "handshake", starts, moment::ready, ready_in_part, true, false, true},
    {"ready_without_socket", "handshake", starts, moment::ready, ready_without_socket, true, false, true},
    {"deaf_after_ready", "handshake", starts, moment::ready, deaf_after_ready, true, false, true},
    {"fail_and_live", "handshake", starts, moment::ready, fail_and_live, true, false, true},
    {"serve_before_asked", "handshake", starts, moment::ready, serve_before_asked, true, false, true},
    {"describe_absurdly", "handshake", described, moment::ready, describe_absurdly, true, false, true},
    {"describe_no_end", "handshake", described, moment::ready, describe_no_end, true, false, true},
};

}  // namespace

std::span<const strategy> handshake_strategies() { return strategies; }

}  // namespace adversary

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Attacks on descriptors and other kernel objects that both processes use.
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "strategy.hpp"

namespace adversary {
namespace {

using namespace troupe;
using protocol::message;

std::vector<std::byte> pong() { return protocol::packet_of(protocol::control_message{.kind = message::pong}); }

// Returns a socket whose last close waits until the data sent to it has been read, which never happens.
int lingering_socket() {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0), sender = ::socket(AF_INET, SOCK_STREAM, 0), small = 4096;
  ::setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
  sockaddr_in address{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
  socklen_t size = sizeof address;
  auto* const at = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener, at, size) != 0 || ::listen(listener, 1) != 0) return -1;
  ::getsockname(listener, at, &size);
  if (::connect(sender, at, size) != 0) return -1;
  ::fcntl(sender, F_SETFL, O_NONBLOCK);
  const std::string text(1 << 16, 'x');
  while (::send(sender, text.data(), text.size(), MSG_NOSIGNAL) > 0) {
  }
  const linger wait{.l_onoff = 1, .l_linger = 10};
  ::setsockopt(sender, SOL_SOCKET, SO_LINGER, &wait, sizeof wait);
  return sender;
}
bool send_lingering_socket(hostile_worker& w) {
  const int fd = lingering_socket();
  if (fd < 0 || !w.must_attack()) return false;
  // Keeps the application busy for a moment, so that this process closes its copy of the socket first.
  std::string engines;
  while (engines.size() < 15000) engines += "a b c\n";
  for (int i = 0; i < 5; ++i) send_message(message::ready, engines);
  send_packet(hostile_worker::control, pong(), std::span(&fd, 1));
  ::close(fd);
  return false;
}

bool send_many_descriptors(hostile_worker& w) {
  const std::vector<int> fds(253, ::open("/dev/null", O_RDONLY | O_CLOEXEC));
  while (w.must_attack() && send_packet(hostile_worker::control, pong(), fds)) {
  }
  return false;
}

// The kernel limits the descriptors that are in flight from all processes of a user. This worker keeps as many in
// flight as the limit allows, so no process of the user can send another one.
bool keep_descriptors_in_flight(hostile_worker& w) {
  const std::vector<int> fds(253, ::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const std::byte one[1] = {};
  std::vector<int> sockets;
  for (int pairs = 0; w.must_attack() && pairs < 200; ++pairs) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) break;
    sockets.insert(sockets.end(), {ends[0], ends[1]});
    const int much = 1 << 20;
    ::setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &much, sizeof much);
    while (send_packet(ends[0], one, fds, MSG_DONTWAIT)) {
    }
  }
  while (w.must_attack()) pause(std::chrono::milliseconds(5));
  for (const int fd : sockets) ::close(fd);
  return false;
}

// The same on the socket for questions about memory, which the application reads only after it has asked one.
bool keep_descriptors_in_questions(hostile_worker& w) {
  const std::vector<int> fds(253, ::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const std::byte one[1] = {};
  const int much = 1 << 20;
  ::setsockopt(w.questions, SOL_SOCKET, SO_SNDBUF, &much, sizeof much);
  while (w.must_attack() && send_packet(w.questions, one, fds, MSG_DONTWAIT)) {
  }
  while (w.must_attack()) pause(std::chrono::milliseconds(5));
  return false;
}

bool use_up_descriptors(hostile_worker& w) {
  while (w.must_attack() && ::dup(0) >= 0) {
  }
  while (w.must_attack()) pause(std::chrono::milliseconds(5));
  return false;
}

bool is_ours(int fd) {
  char path[64], name[256] = {};
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  return ::readlink(path, name, sizeof name - 1) > 0 && std::strstr(name, "memfd:troupe") != nullptr;
}
// Changes the size and the seals of every memory file to which it has access.
bool resize_files(hostile_worker& w) {
  for (int held = 4; w.must_attack() && held < 256; ++held) {
    if (!is_ours(held)) continue;
    const int again = ::open(("/proc/self/fd/" + std::to_string(held)).c_str(), O_RDWR | O_CLOEXEC);
    for (const int fd : {held, again}) {
      struct stat s{};
      if (fd < 0 || ::fstat(fd, &s) != 0) continue;
      if (::ftruncate(fd, 0) == 0 || ::ftruncate(fd, s.st_size * 2) == 0 || ::fallocate(fd, 0, s.st_size, 4096) == 0)
        w.succeed();
      if (::fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_FUTURE_WRITE) == 0) w.succeed();
    }
  }
  return false;
}
bool punch_holes(hostile_worker& w) {
  while (w.must_attack()) {
    for (int fd = 4; fd < 256; ++fd)
      if (struct stat s{}; is_ours(fd) && ::fstat(fd, &s) == 0)
        ::fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, s.st_size);
    w.wake_application();
  }
  return false;
}
// Tries to write to memory that the application has sealed as read-only: it must stay read-only.
bool make_mailbox_writable(hostile_worker& w) {
  if (::mprotect(w.view.mailbox, 4096, PROT_READ | PROT_WRITE) == 0) w.succeed();
  return false;
}

bool make_output_nonblocking(hostile_worker&) {
  for (const int fd : {1, 2}) ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
  return false;
}
// Writes until the next write would block.
bool fill_output(hostile_worker& w) {
  const std::string text(4096, '.');
  pollfd output{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  while (w.must_attack() && ::poll(&output, 1, 0) == 1 && ::write(STDERR_FILENO, text.data(), text.size()) > 0) {
  }
  return false;
}

constexpr const char* closes = "closing what a worker sent never blocks";
constexpr const char* own = "one device's trouble stays its own";
constexpr const char* sealed = "sizes and seals of shared files do not change";
constexpr strategy strategies[] = {
    {"send_lingering_socket", "descriptors", closes, moment::serving, send_lingering_socket, true, false, false, false,
     true},
    {"send_many_descriptors", "descriptors", closes, moment::serving, send_many_descriptors, true, true},
    {"keep_descriptors_in_flight", "descriptors", own, moment::serving, keep_descriptors_in_flight, true, false, true,
     true, true},
    {"keep_descriptors_in_questions", "descriptors", own, moment::serving, keep_descriptors_in_questions, true, false,
     false, true},
    {"use_up_descriptors", "descriptors", own, moment::serving, use_up_descriptors, true},
    {"resize_files", "descriptors", sealed, moment::serving, resize_files, true},
    {"punch_holes", "descriptors", "every word of shared memory is checked", moment::serving, punch_holes, false, false,
     true},
    {"make_mailbox_writable", "descriptors", sealed, moment::serving, make_mailbox_writable, true},
    {"make_output_nonblocking", "descriptors", "the application's output stays as it is", moment::serving,
     make_output_nonblocking, true},
    {"fill_output", "descriptors", "the application's output stays as it is", moment::serving, fill_output, true},
};

}  // namespace

std::span<const strategy> descriptor_strategies() { return strategies; }

}  // namespace adversary

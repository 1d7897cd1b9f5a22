// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// The program that the channel's tests launch. Its first argument selects its role; it answers through the control
// socket.
#include <dirent.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <troupe/channel/control_socket.hpp>
#include <troupe/channel/mapping.hpp>
#include <troupe/channel/memory_file.hpp>
#include <troupe/channel/process/process.hpp>
#include <troupe/channel/ring.hpp>

namespace troupe {
namespace {

control_socket connect() { return control_socket::adopt(file_descriptor(process::control_descriptor)).value(); }

void say(control_socket& control, const std::string& text, std::span<const int> fds = {}) {
  control.send(std::as_bytes(std::span(text)), fds).value();
}

memory_file receive_file(control_socket& control) {
  std::byte text[64];
  auto message = control.receive(text, 1).value();
  return memory_file::open(std::move(message.fds.at(0))).value();
}

int list_descriptors() {
  std::set<int> open;
  DIR* dir = ::opendir("/proc/self/fd");
  while (const dirent* entry = ::readdir(dir))
    if (entry->d_name[0] != '.' && std::atoi(entry->d_name) != ::dirfd(dir)) open.insert(std::atoi(entry->d_name));
  ::closedir(dir);
  std::string text;
  for (int fd : open) text += std::to_string(fd) + " ";
  char input[64] = "";
  if (::readlink("/proc/self/fd/0", input, sizeof input - 1) > 0) text += input;
  control_socket control = connect();
  say(control, text);
  return 0;
}

int describe_outputs() {
  std::string text;
  for (const char* path : {"/proc/self/fd/1", "/proc/self/fd/2"}) {
    char to[256] = "";
    text += ::readlink(path, to, sizeof to - 1) > 0 ? std::string(to) + " " : "closed ";
  }
  control_socket control = connect();
  say(control, text);
  return 0;
}

// Prints the environment that this program would pass on to a child.
int list_environment() {
  for (const std::string& variable : current_environment()) std::printf("%s\n", variable.c_str());
  return std::fflush(stdout);
}

// Sends blocked and ignored signals, whether this process leads its session, and an environment variable.
int describe_self() {
  std::ostringstream text;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("SigBlk") || line.starts_with("SigIgn"))
      text << line.substr(0, 7) << " " << (std::stoull(line.substr(8), nullptr, 16) & 0x7fff'ffff)
           << "\n";  // without 32 and 33, which the C library uses
  text << (::getsid(0) == ::getpid() ? "leads its session" : "in another session") << "\n";
  const char* value = std::getenv("TROUPE_TEST_VARIABLE");
  text << (value ? value : "no variable") << "\n";
  control_socket control = connect();
  say(control, text.str());
  return 0;
}

int write_into_file() {
  control_socket control = connect();
  const memory_file file = receive_file(control);
  const mapping memory = mapping::map(file, map_access::read_write).value();
  const std::string found(reinterpret_cast<const char*>(memory.data()));
  std::strcpy(reinterpret_cast<char*>(memory.data()), "written by the child");
  say(control, found);
  return 0;
}

int try_to_resize() {
  control_socket control = connect();
  const memory_file file = receive_file(control);
  std::string text;
  for (const off_t size : {off_t{0}, off_t{1} << 30})
    text += ::ftruncate(file.fd(), size) == 0 ? "resized " : std::string(::strerrorname_np(errno)) + " ";
  say(control, text);
  return 0;
}

int read_ring() {
  control_socket control = connect();
  const memory_file file = receive_file(control);
  const mapping memory = mapping::map(file, map_access::read_write).value();
  ring_reader reader(ring_region::open(memory.bytes()).value());
  std::uint64_t sum = 0;
  for (;;) {
    const ring_record record = reader.peek();
    if (!record) {
      if (reader.prepare_park()) reader.park();
      continue;
    }
    if (record.kind == 1) break;
    std::uint64_t value;
    std::memcpy(&value, record.payload.data(), sizeof value);
    sum += value;
    reader.pop();
  }
  say(control, std::to_string(sum));
  return 0;
}

int segfault() {
  ::signal(SIGSEGV, SIG_DFL);  // undoes a sanitizer's handler
  auto* page = static_cast<volatile char*>(::mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  *page = 1;
  return 0;
}

int hang() {
  control_socket control = connect();
  say(control, "here");
  for (;;) ::pause();
}

int tied_to(const char* parent) {
  if (auto tied = die_with_parent(std::atoi(parent)); !tied) return 9;
  return hang();
}

// Launches a child that dies with this process, and sends the test a descriptor that shows when that child has ended.
int launch_tied(const char* self) {
  control_socket control = connect();
  auto pair = control_socket::make_pair().value();
  const auto child =
      process::launch({.path = self, .args = {"tied_to", std::to_string(::getpid())}, .control_fd = pair.theirs.fd()})
          .value();
  std::byte text[64];
  if (pair.ours.receive(text).value().outcome != control_socket::outcome::message) return 1;
  const int pidfd = child.pidfd();
  say(control, "tied", {&pidfd, 1});
  for (;;) ::pause();
}

int main(int argc, char** argv) {
  const std::string role = argc > 1 ? argv[1] : "";
  if (role == "exit") return std::atoi(argv[2]);
  if (role == "list_descriptors") return list_descriptors();
  if (role == "describe_outputs") return describe_outputs();
  if (role == "describe_self") return describe_self();
  if (role == "list_environment") return list_environment();
  if (role == "write_into_file") return write_into_file();
  if (role == "try_to_resize") return try_to_resize();
  if (role == "read_ring") return read_ring();
  if (role == "segfault") return segfault();
  if (role == "hang") return hang();
  if (role == "tied_to") return tied_to(argv[2]);
  if (role == "launch_tied") return launch_tied(argv[0]);
  return 64;
}

}  // namespace
}  // namespace troupe

int main(int argc, char** argv) { return troupe::main(argc, argv); }

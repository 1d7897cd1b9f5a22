// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <troupe/channel/control_socket.hpp>
#include <vector>

namespace troupe {

struct failure;
enum class map_access : std::uint8_t;
namespace protocol {
enum class message : std::uint32_t;
struct service;
struct memory_place;
struct control_message;
}  // namespace protocol

/// A worker from its first message to its end: handshake, memory, engines, standing by, pump. The same in a process of
/// its own and in a thread of the application.
class worker_session {
 public:
  enum class home : std::uint8_t { process, thread };

  worker_session(control_socket application, home where);
  ~worker_session();
  worker_session(const worker_session&) = delete;

  /// Serves until the application says stop or is gone. What it answers is what a process exits with.
  int run();

 private:
  struct state;
  result<void> begin();
  void listen();
  result<void> handle_command(const protocol::control_message& m, const std::string& text,
                              std::vector<file_descriptor> fds);
  void enter_gpu();
  void look_at_memory() noexcept;
  void make_memory();
  result<std::uint64_t> make_managed(std::uint64_t bytes);
  void free_managed(std::uint64_t address, std::uint64_t bytes) noexcept;
  bool is_apart(std::uint64_t address) const noexcept;
  result<void> map(const protocol::memory_place& place, std::vector<file_descriptor> file);
  void unmap(std::uint64_t address);
  result<void> protect(std::uint64_t address, std::uint64_t bytes, map_access access);
  result<void> protect(const protocol::memory_place& place, std::vector<file_descriptor> file);
  void serve(const protocol::service& s);
  void end();
  void end_helpers();
  void stop();
  void give_up(const failure& why);
  void tell(protocol::message kind, const std::string& text, reaction how = {});
  void tell(const error& why);

  control_socket application_;
  home home_;
  std::unique_ptr<state> state_;
  std::int64_t order_limit_ns_ = INT64_MAX;
  std::atomic<std::uint32_t> go_{0};  // 1: serve; 2: end, without having served
};

}  // namespace troupe

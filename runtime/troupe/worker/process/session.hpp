// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <troupe/channel/control_socket.hpp>
#include <troupe/protocol/message_budget.hpp>
#include <vector>

namespace troupe {

struct failure;
struct opened_plug_in;
namespace protocol {
enum class message : std::uint32_t;
struct service;
struct control_message;
struct greeting;
}  // namespace protocol

/// A worker from its first message to its end: handshake, memory, engines, standby, pump. The same in a process of its
/// own and in a thread of the application.
class worker_session {
 public:
  enum class home : std::uint8_t { process, thread };

  worker_session(control_socket application, home where);
  ~worker_session();
  worker_session(const worker_session&) = delete;

  /// Serves until the application asks for the end or has ended. Returns the exit code for a process.
  int run();

 private:
  struct state;
  result<void> begin();
  result<void> make_pump(const protocol::greeting& g, std::vector<opened_plug_in> plug_ins);
  void listen();
  result<void> handle_command(const protocol::control_message& m, const std::string& text,
                              std::vector<file_descriptor> fds);
  void enter_gpu();
  void publish_free_memory() noexcept;
  void serve(const protocol::service& s);
  void end();
  void end_helpers();
  void stop();
  void give_up(const failure& why);
  void send(protocol::message kind, const std::string& text, reaction how = {});
  void send_failure(const error& why);
  void send_of_engine(protocol::message kind, const std::string& text);

  control_socket application_;
  home home_;
  std::unique_ptr<state> state_;
  std::int64_t longest_task_ns_ = INT64_MAX;
  std::mutex counting_;
  protocol::message_budget budget_ = protocol::budget_of_engines;
  std::atomic<std::uint32_t> go_{0};  // 0: stand by; 1: serve; 2: end without having served
};

}  // namespace troupe

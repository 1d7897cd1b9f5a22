// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <thread>
#include <troupe/channel/control_socket.hpp>
#include <troupe/device/workers/installed_files.hpp>
#include <troupe/device/workers/send_queue.hpp>
#include <troupe/device/workers/worker_link.hpp>
#include <troupe/protocol/message_budget.hpp>

namespace troupe {

/// A worker that runs in a process or a thread of this machine, and its control socket.
class launched_worker final : public worker_link {
 public:
  /// Makes a worker: see worker_link_maker.
  static result<std::unique_ptr<worker_link>> make(std::shared_ptr<installed_files> files, std::uint32_t id,
                                                   enum isolation isolation, std::shared_ptr<const region> addresses,
                                                   std::uint64_t channel_bytes);
  ~launched_worker() override;

  result<void> greet(const protocol::greeting& hello, const memory_file& mailbox, const memory_file& workers) override;
  result<void> launch(const std::string& program, const std::vector<std::string>& environment) override;
  result<void> send_map(std::uint64_t address, const std::shared_ptr<const memory_file>& memory, std::uint32_t number,
                        bool read_only) override;
  result<void> send_protect(const protocol::protected_place& place, std::uint32_t number, bool read_only) override;
  result<void> send_protected(std::span<const protocol::protected_place> all, std::uint32_t number) override;
  result<void> send_unmap(std::uint64_t address, std::uint32_t number) override;
  result<void> send_serve(const protocol::service& s) override;
  void send_stop() noexcept override;
  void send_ping() noexcept override;
  bool send_look() noexcept override;
  result<void> send_load(const std::string& library) override;
  void kill() noexcept override;
  message receive() override;
  std::optional<exit_status> ended() noexcept override;
  bool has_ended(std::int64_t deadline_ns) noexcept override;
  bool is_quiesced() const noexcept override;

  std::uint32_t id() const noexcept override { return id_; }
  std::shared_ptr<allocation_client> allocator() const noexcept override { return allocator_; }
  const std::shared_ptr<const memory_file>& channel() const noexcept override { return channel_; }
  int socket_fd() const noexcept override { return socket_.fd(); }
  int exit_fd() const noexcept override { return process_ ? process_->pidfd() : -1; }
  int pid() const noexcept override { return process_ ? process_->pid() : 0; }

 private:
  explicit launched_worker(memory_file channel) : channel_(std::make_shared<const memory_file>(std::move(channel))) {}
  result<void> send_memory(protocol::message kind, const protocol::memory_place& place,
                           std::shared_ptr<const memory_file> file = {});
  message take_message();
  message interpret(protocol::message kind, reaction how, std::string text);
  message remarked(std::string text);
  std::string add_plug_ins(protocol::greeting hello, std::vector<int>& fds);
  bool is_engine(const std::string& library) const;

  std::shared_ptr<installed_files> files_;
  std::shared_ptr<const installed_files::plug_ins> plug_ins_;  // for a worker process
  std::string backend_;
  std::uint32_t id_ = 0;
  enum isolation isolation_ = isolation::process;
  std::shared_ptr<const region> addresses_;
  std::shared_ptr<const memory_file> channel_;
  bool gone_ = false, violated_ = false, said_ready_ = false;
  std::uint32_t remarks_ = 0, pings_ = 0;  // pings: those without an answer
  protocol::message_budget budget_ = protocol::budget_of_worker;
  control_socket socket_, theirs_, allocator_theirs_;  // the last two are the worker's ends
  send_queue send_queue_{socket_};
  std::shared_ptr<allocation_client> allocator_;
  std::optional<process> process_;
  std::thread thread_;
};

}  // namespace troupe

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "simulated_worker.hpp"

namespace troupe::simulation {

/// The device's link to a simulated worker.
class simulated_link final : public worker_link {
 public:
  explicit simulated_link(std::shared_ptr<simulated_worker> w);
  ~simulated_link() override;

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
  result<void> send_load(const std::string& library) override;
  void kill() noexcept override;
  message receive() override;
  std::optional<exit_status> ended() noexcept override;
  bool has_ended(std::int64_t deadline_ns) noexcept override;
  std::uint32_t id() const noexcept override { return worker_->id; }
  const std::shared_ptr<const memory_file>& channel() const noexcept override;
  int socket_fd() const noexcept override { return worker_->socket_fd(); }
  int exit_fd() const noexcept override { return worker_->exit_fd(); }
  int pid() const noexcept override { return static_cast<int>(worker_->id); }

  static inline int alive = 0;

 private:
  std::shared_ptr<simulated_worker> worker_;
};

}  // namespace troupe::simulation

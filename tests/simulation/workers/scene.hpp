// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <troupe/channel/mapping.hpp>
#include <utility>

#include <tests/simulation/random.hpp>
#include <tests/simulation/record.hpp>

namespace troupe::simulation {

class simulated_worker;

/// The environment of a run's workers: their shared memory, and the receiver of their reports.
class scene {
 public:
  explicit scene(run_record& r) noexcept : record(r) {}
  /// Lets other parts of the run act while a request runs, until it may end or its worker is dead.
  virtual void run_meanwhile(simulated_worker& w) = 0;
  /// Lets the application act, because the worker waits for it.
  virtual void await_application(std::uint64_t ticket, simulated_worker& w) = 0;
  virtual void request_started(std::uint64_t ticket, simulated_worker& w) = 0;
  /// The request is one of several that share a call, which starts.
  virtual void request_joined_call(std::uint64_t ticket, simulated_worker& w) = 0;
  /// The request was to share a call, but runs alone, once those before it have: it can no longer be cancelled.
  virtual void request_left_call(std::uint64_t ticket, simulated_worker& w) = 0;
  virtual void request_finished(std::uint64_t ticket, simulated_worker& w) = 0;
  virtual void request_failed(std::uint64_t ticket, simulated_worker& w) = 0;
  /// The application overwrote a chunk of an upload before the worker had read it.
  virtual void chunk_was_overwritten(std::uint64_t ticket, simulated_worker& w) = 0;
  /// The request is about to write memory that its worker can only read.
  virtual void wrote_read_only_memory(std::uint64_t ticket, simulated_worker& w) = 0;
  /// The device reads the channel of this worker from now on.
  virtual void worker_will_serve(simulated_worker& w) = 0;
  /// The device kills the worker.
  virtual void worker_killed(simulated_worker& w) = 0;
  /// Returns the address and size of device memory in use; empty if clients have none.
  virtual std::pair<std::uint64_t, std::uint64_t> any_memory(random_bits& r) const = 0;
  /// Any device memory that is not sealed may have been overwritten.
  virtual void memory_was_overwritten() = 0;
  virtual std::int64_t now() const = 0;

  /// Maps memory at the device's address, once for all workers, which share this process.
  void place(std::uint64_t address, const memory_file& memory, bool read_only);
  void unplace(std::uint64_t address) { placed_.erase(address); }

  run_record& record;

 protected:
  ~scene() = default;

 private:
  struct placed {
    std::uint64_t file;
    mapping memory;
  };
  std::map<std::uint64_t, placed> placed_;
};

}  // namespace troupe::simulation

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>
#include <troupe/channel/mapping.hpp>
#include <troupe/device/workers/worker_link.hpp>
#include <troupe/memory/staging.hpp>
#include <troupe/worker/schedule/pump.hpp>

#include "random.hpp"
#include "scene.hpp"

namespace troupe::simulation {

/// A worker that runs only when the scheduler says so, one small step at a time. All that is not a thread, a process or
/// a vendor's library is real: the mailbox's reader, the pump, its lanes, hazards, reports.
class simulated_worker {
 public:
  simulated_worker(scene& s, std::uint32_t id, enum isolation isolation, memory_file channel);
  ~simulated_worker();
  simulated_worker(const simulated_worker&) = delete;

  /// Is there anything that it could do now?
  bool can_step() const noexcept;
  void step(random_bits& r);
  /// As by SIGKILL, or a fault of its own.
  void die(exit_status how);
  /// The same, and it says what it was working on; which may be so, and is when that is given.
  void die_with_a_note(int signal, random_bits& r, std::uint64_t ticket = 0);
  /// Writes something impossible, or at least untrue, where a worker can write.
  void write_garbage(random_bits& r);
  /// Writes somewhere in device memory, as a kernel that has gone astray. Where it can only read, that is its end.
  void write_wildly(random_bits& r);

  const std::uint32_t id;
  const enum isolation isolation;
  const std::shared_ptr<const memory_file> channel;

  // What happens to it.
  bool launched = false, dead = false, exit_shows = false;
  bool hung = false;          ///< until somebody lets it go on
  bool frozen = false;        ///< for ever: it cannot know any more where it was
  bool cannot_start = false;  ///< fails on the way up
  bool never_ready = false;
  bool cannot_launch = false;
  bool was_unkillable = false;
  bool unkillable = false;  ///< the kernel holds it
  bool dishonest = false;   ///< has written garbage
  bool missed_memory = false;
  bool deaf = false;  ///< takes no memory messages, and no pings
  bool mute = false;  ///< cannot be sent anything
  bool kill_wanted = false;
  bool held = false;  ///< the device has a link to it
  bool asked_to_stop = false;
  std::uint32_t steps_to_death = 0;   ///< of what it runs; 0: it will not die of that
  std::uint64_t dies_of = 0;          ///< a ticket
  std::int64_t asked_for_a_sign = 0;  ///< when; 0: it gave one
  std::int64_t ping_dropped = 0;      ///< when last; 0: never
  bool pinged = false;                ///< and has not answered
  bool serving = false, told_to_stop = false;
  exit_status status;

  // What the application's end of it sees.
  std::deque<worker_link::news> send_queue;
  bool socket_closed = false;
  int socket_fd() const noexcept { return 1000 + 2 * static_cast<int>(id); }
  int exit_fd() const noexcept { return isolation == isolation::process ? socket_fd() + 1 : -1; }
  bool readable(int fd) const noexcept;

  // What it is sent.
  struct message {
    protocol::message kind;
    protocol::memory_place place;
    protocol::service service;
    std::vector<protocol::protected_place> places = {};  ///< of protect, when they are more than one
  };
  void greeted(const protocol::worker_settings& s, const memory_file& mailbox);
  std::deque<message> inbox;

  /// While a request runs.
  bool inside() const noexcept { return on_stack_ != 0; }
  scene& where() noexcept { return scene_; }
  /// The counters of the transfers that it is in the middle of.
  std::vector<staging_header*> transfers;
  bool knows(std::uint64_t address, std::uint64_t bytes) const noexcept;
  bool can_write(std::uint64_t address, std::uint64_t bytes) const noexcept;
  void protect(std::uint64_t address, std::uint64_t bytes, bool read_only);

 private:
  void begin();
  void listen();
  bool can_take() const noexcept;
  void take();
  void end_if_done();
  bool claim_progress(random_bits& r);

  scene& scene_;
  protocol::worker_settings settings_{};
  bool begun_ = false, in_pump_ = false;
  std::uint32_t in_lanes_ = 0, on_stack_ = 0, segments_ = 0;
  mapping channel_memory_, mailbox_memory_;
  protocol::view view_;
  std::map<std::uint64_t, std::uint64_t> known_, read_only_;  // address and bytes
  std::optional<slot_queue_reader> commands_;
  std::optional<ring_writer> report_ring_;
  std::optional<reporter> reports_;
  std::optional<engine_set> engines_;
  std::optional<pump> pump_;
};

}  // namespace troupe::simulation

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>
#include <troupe/channel/mapping.hpp>
#include <troupe/device/workers/worker_link.hpp>
#include <troupe/memory/copying/staging.hpp>
#include <troupe/worker/schedule/pump.hpp>

#include <tests/simulation/random.hpp>
#include "damaged_word.hpp"
#include "scene.hpp"

namespace troupe::simulation {

/// A worker that runs only under the scheduler's control, one small step at a time. Everything that is not a thread, a
/// process or a vendor's library is real: the mailbox reader, the pump, its lanes, hazards and reports.
class simulated_worker {
 public:
  simulated_worker(scene& s, std::uint32_t id, enum isolation isolation, memory_file channel);
  ~simulated_worker();
  simulated_worker(const simulated_worker&) = delete;

  /// Returns true if the worker could act now.
  bool can_step() const noexcept;
  void step(random_bits& r);
  /// Dies, as by SIGKILL or a fault of its own.
  void die(exit_status how);
  /// Dies with a crash note about the current request: a guess, or `ticket` if it is set.
  void die_with_crash_note(int signal, random_bits& r, std::uint64_t ticket = 0);
  /// Writes impossible, or at least false, values to memory that a worker can write.
  void write_garbage(random_bits& r);
  /// Damages a word, if it exists and its value changes.
  void damage(const damaged_word& d);
  /// Remembers the words that can be damaged, for damaged_word::becomes::its_last_value.
  void remember_words();
  /// Reports, twice, that the next request has failed. Returns false if there is none.
  bool report_twice();
  /// Writes to random device memory, like a stray kernel. If the memory is read-only, the worker dies.
  void write_wildly(random_bits& r);

  const std::uint32_t id;
  const enum isolation isolation;
  const std::shared_ptr<const memory_file> channel;

  // Its state.
  bool launched = false, dead = false, exit_shows = false;
  bool hung = false;          ///< until it is resumed
  bool frozen = false;        ///< for good: its own state is damaged
  bool cannot_start = false;  ///< fails while it starts
  bool never_ready = false;
  bool cannot_launch = false;
  bool lacks = false;  ///< it cannot serve because a resource is short, which counts as no fault
  bool was_unkillable = false;
  bool unkillable = false;  ///< Linux does not let it die
  bool dishonest = false;   ///< has written garbage
  bool missed_memory = false;
  bool deaf = false;  ///< takes no memory messages, and no pings
  bool mute = false;  ///< no message can be sent to it
  bool kill_wanted = false;
  bool held = false;  ///< the device has a link to it
  bool asked_to_stop = false;
  std::uint32_t steps_to_death = 0;  ///< inside its request; 0: it does not die
  std::uint64_t dies_of = 0;         ///< a ticket
  std::int64_t ping_sent = 0;        ///< when; 0: it has answered
  std::int64_t ping_dropped = 0;     ///< when last; 0: never
  bool pinged = false;               ///< it has not answered
  bool serving = false, told_to_stop = false;
  exit_status status;

  // The application's view of it.
  std::deque<worker_link::message> send_queue;
  bool socket_closed = false;
  int socket_fd() const noexcept { return 1000 + 2 * static_cast<int>(id); }
  int exit_fd() const noexcept { return isolation == isolation::process ? socket_fd() + 1 : -1; }
  bool readable(int fd) const noexcept;

  // Messages to it.
  struct message {
    protocol::message kind;
    protocol::memory_place place;
    protocol::service service;
    std::vector<protocol::protected_place> places = {};  ///< of protect, if there is more than one
  };
  void receive_greeting(const protocol::worker_settings& s, const memory_file& mailbox);
  std::deque<message> inbox;

  /// Returns true while a request runs.
  bool inside() const noexcept { return on_stack_ != 0; }
  scene& environment() noexcept { return scene_; }
  /// The counters of the transfers in progress.
  std::vector<staging_header*> transfers;
  bool has_mapped(std::uint64_t address, std::uint64_t bytes) const noexcept;
  bool can_write(std::uint64_t address, std::uint64_t bytes) const noexcept;
  void protect(std::uint64_t address, std::uint64_t bytes, bool read_only);

 private:
  void begin();
  void listen();
  bool can_take() const noexcept;
  void take();
  void end_if_done();
  bool claim_progress(random_bits& r);
  std::atomic<std::uint64_t>* word_of(std::uint32_t group, std::uint32_t i) const noexcept;

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
  std::map<const std::atomic<std::uint64_t>*, std::uint64_t> remembered_words_;
};

}  // namespace troupe::simulation

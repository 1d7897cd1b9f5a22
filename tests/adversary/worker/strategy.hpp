// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "hostile_worker.hpp"

namespace adversary {

/// When a strategy acts. All moments but the first are those of a message, in every worker that starts while all
/// workers may attack.
enum class moment {
  serving,  ///< on a thread of its own, when this worker is told to attack
  loaded,   ///< before main
  greeted,  ///< the greeting was received
  ready,    ///< `ready` is about to be sent
  serve,    ///< `serve` was received
  answer,   ///< an answer about memory is about to be sent
};

struct strategy {
  const char* name;
  const char* group;
  const char* promise;  ///< the promise that it attacks
  moment when;
  /// Attacks. Returns true if the message of this moment must not be passed on.
  bool (*act)(hostile_worker&);
  /// The worker is damaged, not malicious: its own device must not report a wrong success either.
  bool is_accident = false;
  /// It uses time or memory of the application as long as it lasts, so the worker must be ended within a second.
  bool is_flood = false;
  /// Requests may wait for start_timeout, as docs/when-things-fail.md says of requests that do not start.
  bool delays_start = false;
  /// It attacks a limit that the system does not apply to root, so it needs an ordinary user.
  bool is_of_a_user = false;
  /// It needs processes or sockets, which only a worker with confinement::off can make.
  bool is_unconfined = false;
};

std::span<const strategy> report_strategies();
std::span<const strategy> counter_strategies();
std::span<const strategy> word_strategies();
std::span<const strategy> packet_strategies();
std::span<const strategy> descriptor_strategies();
std::span<const strategy> memory_strategies();
std::span<const strategy> handshake_strategies();
std::span<const strategy> process_strategies();

std::vector<strategy> all_strategies();
const strategy* find_strategy(std::string_view name);

}  // namespace adversary

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "hostile_worker.hpp"

namespace adversary {

/// When a strategy acts. All but the first are in the way of a message, in every worker that starts while the stage
/// names everybody.
enum class moment {
  serving,  ///< in a thread of its own, when the stage names this worker
  loaded,   ///< before main
  greeted,  ///< the greeting was received
  ready,    ///< `ready` is about to be sent
  serve,    ///< `serve` was received
  answer,   ///< an answer about memory is about to be sent
};

struct strategy {
  const char* name;
  const char* group;
  const char* promise;  ///< what it attacks
  moment when;
  /// Returns true if the message of the moment is not to be passed on.
  bool (*act)(hostile_worker&);
  /// The worker is damaged, not a liar: its device must not report a wrong success either.
  bool is_accident = false;
  /// It costs the application time or memory as long as it lasts: the worker must be ended within a second.
  bool is_flood = false;
  /// Requests may wait for start_timeout, as docs/when-things-fail.md says of requests that do not begin.
  bool delays_start = false;
  /// It attacks a limit that the system does not apply to root.
  bool is_of_a_user = false;
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

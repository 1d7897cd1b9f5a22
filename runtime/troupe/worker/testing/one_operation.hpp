// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/worker/engine.hpp>

namespace troupe::testing_worker {

inline constexpr std::uint64_t only_opcode = 7;

/// Makes an operation that `run` carries out alone, on the lane of its library.
inline troupe_engine_operation operation_that(decltype(troupe_engine_operation::run) run,
                                              decltype(troupe_engine_operation::ready) ready = nullptr) {
  return {.opcode = only_opcode,
          .name = "testing.operation",
          .payload_bytes = 0,
          .lane = troupe_lane_library,
          .run = run,
          .group = nullptr,
          .run_group = nullptr,
          .ready = ready};
}

/// Makes an engine with that operation. `run` and `ready` are passed `state`. The operation and the engine must outlive
/// the set.
inline troupe_engine engine_with(const troupe_engine_operation& only, void* state) {
  return {.abi = troupe_engine_abi,
          .library = "testing",
          .backend = "host",
          .version = "",
          .operations = &only,
          .operation_count = 1,
          .state = state,
          .close = [](const troupe_engine*) {},
          .notes = nullptr};
}

}  // namespace troupe::testing_worker

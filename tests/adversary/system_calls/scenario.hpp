// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace failing {

/// Opens a device, which computes, loses its worker, serves again and closes. `armed_ms` returns how long that took.
/// `probe_ms` limits a chain of requests after calls no longer fail. Returns which expectation does not hold; an empty
/// text if all results were correct or failed with an error that names the cause.
std::string run_scenario(double probe_ms, double& armed_ms);

/// The time that the program waits for one answer. If there is none by then, it counts as a hang.
inline constexpr double longest_answer_ms = 8000;

}  // namespace failing

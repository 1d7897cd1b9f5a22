// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace failing {

/// Opens a device, which computes, loses its worker, serves again and closes. `armed_ms` is how long that took.
/// `probe_ms` is how long one chain of requests may take once no call fails any more. Returns what does not hold; empty
/// if everything was right or failed with an error that says so.
std::string run_scenario(double probe_ms, double& armed_ms);

/// The time for which the program waits for one answer. A hang lasts longer.
inline constexpr double longest_answer_ms = 8000;

}  // namespace failing

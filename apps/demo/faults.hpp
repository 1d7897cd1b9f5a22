// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/troupe.hpp>
#include <vector>

namespace demo {

/// One thing shown: what was seen, and whether it was what should be.
struct act {
  std::string title, verdict;
  bool good = false;
  std::vector<std::string> lines;
};

/// Queues a computation with a mistake in it and looks once, at its end: what arrives there must be that mistake.
act show_an_error_travelling(const troupe::device& gpu);

/// Kills the device's worker with work outstanding: every request must get its answer all the same.
act show_a_worker_dying(const troupe::device& gpu);

}  // namespace demo

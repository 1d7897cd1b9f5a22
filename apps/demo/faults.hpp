// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/troupe.hpp>
#include <vector>

namespace demo {

/// One demonstration: what was observed, and whether it was as expected.
struct act {
  std::string title, verdict;
  bool good = false;
  std::vector<std::string> lines;
};

/// Queues a computation with a mistake, and checks that the error arrives with the computation's result.
act show_an_error_travelling(const troupe::device& gpu);

/// Kills the device's worker while work is outstanding, and checks that every request is answered.
act show_a_worker_dying(const troupe::device& gpu);

}  // namespace demo

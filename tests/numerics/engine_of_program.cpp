// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <tests/numerics/engine_under_test.hpp>

// Returns the engine's path, which the environment sets on another machine than the one that built it.
const char* troupe::numerics::engine_of_program() {
  const char* const set = std::getenv("TROUPE_ENGINE_UNDER_TEST");
  return set != nullptr ? set : TROUPE_ENGINE_UNDER_TEST;
}

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "requests.hpp"

#include <troupe/worker/engine.hpp>

struct failing_engine {
  static troupe::result<std::unique_ptr<failing_engine>> make(const troupe::engine_context&) {
    return troupe::error(troupe::reaction::unsupported, "failing", "no such accelerator: expected model 7 or later");
  }
  troupe::result<void> run(const failing::thing&, troupe::call&) { return {}; }
};

TROUPE_ENGINE(failing_engine, "failing", "host", failing::thing)

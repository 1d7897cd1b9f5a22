// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// An engine whose vendor library prints a lot and then kills the process while the engine is opened.
#include <csignal>
#include <cstdio>

#include <troupe/worker/engine.hpp>

namespace crashing {
struct nothing {
  std::uint32_t unused = 0;
  TROUPE_REQUEST("crashing.nothing", unused)
  void check(troupe::checker&) const {}
};
}  // namespace crashing

struct crashing_engine {
  static troupe::result<std::unique_ptr<crashing_engine>> make(const troupe::engine_context&) {
    std::puts("request crashing.lies_about_itself\nend");
    std::fflush(stdout);
    std::fputs("vendor: the accelerator is on fire\n", stderr);
    (void)std::raise(SIGKILL);  // like a crash, but sanitizers do not intercept it
    return std::make_unique<crashing_engine>();
  }
  troupe::result<void> run(const crashing::nothing&, troupe::call&) { return {}; }
};

TROUPE_ENGINE(crashing_engine, "crashing", "host", crashing::nothing)

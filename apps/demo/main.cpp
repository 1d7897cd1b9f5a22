// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// A small service: clients ask a two-layer network, then things go wrong.
#include <apps/common/command_line.hpp>
#include <apps/common/installation.hpp>
#include <apps/demo/clients.hpp>
#include <apps/demo/faults.hpp>
#include <cstdio>
#include <sstream>
#include <troupe/base/clock.hpp>

namespace {

constexpr const char* help = R"(troupe demo [option...]
Opens the host engine, lets clients ask a two-layer network, checks every answer, then makes mistakes. Needs the blas
engine, that is OpenBLAS. No GPU.

  --seconds N   how long clients ask: 0.1 to 50; 5 by default
  --help        this text

Exit code: 0 every answer was right, 1 one was not or the device did not start, 2 not called like this.
)";

void headline(const char* text) { std::printf("\n%s\n", text); }

bool verdict(bool good, const char* text) {
  std::printf("  %s: %s\n", good ? "ok" : "WRONG", text);
  return good;
}

int run(double seconds) {
  using namespace troupe;
  headline("1. Open a device");
  runtime rt;
  const device gpu = rt.open_device({.mailbox_capacity = 4096,
                                     .libraries = {"blas"},
                                     .runtime_folder = apps::installation::of_this_program().runtime});
  if (auto ready = gpu.ready().get(); !ready) {
    std::fprintf(stderr, "  It did not start: %s\n", ready.error().text().c_str());
    std::fprintf(stderr,
                 "  The demo needs the blas engine. On Debian or Ubuntu: apt install libopenblas-pthread-dev, then "
                 "build again.\n");
    return 1;
  }
  const device_statistics now = gpu.statistics();
  std::printf("  %s is ready on %d cores; its worker is process %d, with\n", now.name.c_str(), usable_cores(),
              now.worker_pid);
  std::istringstream engines(now.engines);
  for (std::string line; std::getline(engines, line);) std::printf("    %s\n", line.c_str());

  headline("2. Clients ask it all at once; every answer is compared with a plain computation here");
  bool good = verdict(demo::serve_clients(gpu, seconds), "every answer was right");
  headline("3. A mistake in the middle of a computation, and one look at its end");
  good &= verdict(demo::show_an_error_travelling(gpu), "the error came along the data");
  headline("4. The worker is killed with work outstanding (kill -9)");
  good &= verdict(demo::show_a_worker_dying(gpu), "every request was answered, and this process goes on");
  return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  using troupe::apps::command_line;
  static constexpr std::string_view options[] = {"--seconds="};
  const std::span<const char* const> arguments(argv + 1, static_cast<std::size_t>(argc - 1));
  const auto c = command_line::parse({.command = "troupe demo", .options = options}, arguments);
  if (!c) return std::fprintf(stderr, "%s\n", c.error().text().c_str()), 2;
  if (c->has("--help")) return std::fputs(help, stdout), 0;
  const auto seconds = c->number("--seconds", 5, 0.1, 50);
  if (!seconds) return std::fprintf(stderr, "%s\n", seconds.error().text().c_str()), 2;
  return run(*seconds);
}

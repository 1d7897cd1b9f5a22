// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// A small service: clients ask a two-layer network, then things go wrong.
#include <apps/demo/clients.hpp>
#include <apps/demo/faults.hpp>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <string_view>
#include <troupe/base/clock.hpp>

namespace {

constexpr const char* help = R"(troupe-demo [--seconds n]
Opens the host engine, lets clients ask a two-layer network for n seconds (5), checks every answer, then makes mistakes.
Needs the blas engine, that is OpenBLAS. No GPU.
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
  const device gpu = rt.open_device({.mailbox_capacity = 4096, .libraries = {"blas"}});
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
  double seconds = 5;
  for (int i = 1; i < argc; ++i) {
    const std::string_view a = argv[i];
    if (a == "--help" || a == "-h") return std::fputs(help, stdout), 0;
    const char* value = a == "--seconds" && i + 1 < argc ? argv[++i] : "";
    const auto end = value + std::strlen(value);
    if (std::from_chars(value, end, seconds).ptr != end || !(seconds >= 0.1 && seconds <= 50)) {
      std::fputs(help, stderr);
      return 2;
    }
  }
  return run(seconds);
}

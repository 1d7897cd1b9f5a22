// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The worker program. Troupe's library starts it with descriptor 3 connected to the application.
#include <sys/prctl.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <troupe/channel/process/process.hpp>
#include <troupe/worker/plugins/describe.hpp>
#include <troupe/worker/plugins/load_library.hpp>
#include <troupe/worker/process/session.hpp>

namespace {

constexpr const char* help = R"(troupe-worker [--describe FILE | --describe-driver]
The process that does a device's work. The Troupe library starts it, and talks to it through descriptor 3.

  --describe FILE   load the engine FILE (<library>.<backend>.so) and describe it, one item a line:
                    library, backend, version, request (many), note (many), end
                    or why it does not serve: unloadable, no_device, or refused by the engine itself, and end
  --describe-driver describe the NVIDIA driver and the GPUs that it shows: library, version, device (many), end
                    or why it shows none: unloadable, refused, and end

  troupe-worker --describe engines/blas.host.so

Exit code: 0 it serves, 1 it does not, 2 usage error. troupe doctor shows all engines at once.
)";

// Sends standard output elsewhere: vendor libraries may print to it, which must not mix with the description's lines.
template <class F>
int describe(F&& what) {
  (void)troupe::die_with_parent(::getppid());
  std::FILE* const out = ::fdopen(::dup(STDOUT_FILENO), "w");
  if (out == nullptr || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return std::perror("troupe-worker"), 2;
  return what(out) ? 0 : 1;
}

int serve() {
  // A worker ends without flushing, so its output is buffered by line: what kernels and engines print must not be lost.
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  // The threads of an OpenMP that a vendor's library loads would otherwise spin on all cores for milliseconds after
  // each call, and delay the engine's own threads. The environment can be changed here, because the process is still
  // single-threaded.
  ::setenv("OMP_WAIT_POLICY", "passive", 0);
  // Between the parts of one call, however, threads spin a little: waking them would take longer than the few
  // microseconds for which they wait.
  ::setenv("GOMP_SPINCOUNT", "3000", 0);
  ::prctl(PR_SET_NAME, "troupe-worker");  // otherwise it would be named after the descriptor that it is started from
  troupe::note_helpers_of_libraries();
  auto application = troupe::control_socket::adopt(troupe::file_descriptor(troupe::process::control_descriptor));
  if (!application) {
    std::fprintf(stderr, "troupe-worker is started by the Troupe library, not by hand: %s\n%s",
                 application.error().text().c_str(), help);
    return 2;
  }
  return troupe::worker_session(std::move(*application), troupe::worker_session::home::process).run();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 1) return serve();
  const std::string_view first = argv[1];
  if (first == "--help" || first == "-h") return std::fputs(help, stdout) < 0 || std::fflush(stdout) != 0 ? 1 : 0;
  if (first == "--describe" && argc == 3)
    return describe([&](std::FILE* out) { return troupe::describe_engine(argv[2], out); });
  if (first == "--describe-driver" && argc == 2) return describe(troupe::describe_driver);
  std::fputs(help, stderr);
  return 2;
}

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The worker program. It is launched by the library, never by hand: descriptor 3 is the way to the application.
#include <cstdio>
#include <troupe/channel/process.hpp>
#include <troupe/worker/internal/session.hpp>

int main() {
  auto application = troupe::control_socket::adopt(troupe::file_descriptor(troupe::process::control_descriptor));
  if (!application) {
    std::fprintf(stderr, "troupe-worker is started by the Troupe library, not by hand: %s\n",
                 application.error().text().c_str());
    return 2;
  }
  return troupe::worker_session(std::move(*application), troupe::worker_session::home::process).run();
}

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// daemon() before the runtime is made, as the pages advise, and after it, which must at least not hang.
#include <poll.h>

#include <memory>
#include <optional>

#include "unkind.hpp"

using namespace unkind;

int main() {
  int ends[2];
  if (::pipe(ends) != 0) return 2;
  for (const bool before : {true, false}) {
    std::fflush(nullptr);
    const pid_t starter = ::fork();
    if (starter == 0) {
      alarm(20);
      std::unique_ptr<runtime> rt;
      if (!before) rt = std::make_unique<runtime>();
      std::optional<device> gpu;
      if (!before) gpu = rt->open_device(options()), expect_works(*gpu, "before");
      if (::daemon(1, 1) != 0) ::_exit(9);
      alarm(20);  // a hang ends without a word
      if (before) rt = std::make_unique<runtime>(), gpu = rt->open_device(options());
      const std::string why = why_broken(*gpu, 3, 5s);
      const char word = why.empty() ? 'w' : why == "no answer" ? 'h' : why == "wrong data" ? 'x' : 'e';
      gpu.reset();
      rt.reset();
      (void)!::write(ends[1], &word, 1);
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(starter, &status, 0);
    expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the starter of a daemon exits");
    pollfd readable{.fd = ends[0], .events = POLLIN, .revents = 0};
    char word = '-';
    if (::poll(&readable, 1, 25'000) == 1) (void)!::read(ends[0], &word, 1);
    if (before) expect(word == 'w', std::string("a device opened by a daemon works: ") + word);
    if (!before) expect(word == 'e', std::string("a device of the daemon's parent is refused: ") + word);
  }
  return exit_code();
}

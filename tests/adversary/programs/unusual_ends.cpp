// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Ends in unusual ways: exit in a continuation, quick_exit, exit with a static runtime and busy threads, abort, and
// exit on another thread.
#include "unkind.hpp"

using namespace unkind;

runtime& static_runtime() {
  static runtime rt;
  return rt;
}

// Ends the program while other threads send requests.
int end_by(int how) {
  return exit_code_of(
      [how]() -> int {
        static device gpu = static_runtime().open_device(options());
        expect_works(gpu, "before");
        for (int i = 0; i < 2; ++i)
          std::thread([mine = gpu] {  // has its own handle, because the static one is destroyed at exit
            for (int k = 0;; ++k) (void)why_broken(mine, k);
          })
              .detach();
        if (how == 0) std::exit(0);
        if (how == 1) std::quick_exit(0);
        if (how == 2) gpu.ping().then([](const troupe::result<std::uint64_t>&) { std::exit(0); });
        if (how == 3) std::thread([] { std::exit(0); }).detach();
        if (how == 4) gpu.close_now().then([](const troupe::result<void>&) { std::exit(0); });
        if (how == 5) std::at_quick_exit([] { (void)gpu.ping().get(); }), std::quick_exit(0);
        while (true) ::pause();
      },
      15s);
}

int main() {
  for (int how = 0; how < 6; ++how)
    for (int i = 0; i < 3; ++i) {
      const int code = end_by(how);
      if (!expect(code == 0,
                  "end " + std::to_string(how) + " of the program: code " + std::to_string(code) + " (137: it hangs)"))
        break;
    }
  return exit_code();
}

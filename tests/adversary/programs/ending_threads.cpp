// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Threads end before their requests are answered: by return, by pthread_exit and by cancellation.
#include <pthread.h>

#include "unkind.hpp"

using namespace unkind;

device* shared = nullptr;

void* ask_and_end(void* how) {
  for (int i = 0; i < 20; ++i) shared->tell(testing_actor::nap{.microseconds = 100});
  auto forgotten = shared->ping();
  if (how == nullptr) ::pthread_exit(nullptr);
  return nullptr;
}

int main() {
  runtime rt;
  device gpu = rt.open_device(options());
  shared = &gpu;
  for (int i = 0; i < 200; ++i) {
    pthread_t thread;
    if (::pthread_create(&thread, nullptr, ask_and_end, i % 2 != 0 ? &gpu : nullptr) != 0) return 2;
    ::pthread_join(thread, nullptr);
    if (i % 50 == 0) kill_worker(gpu);
  }
  expect_works(gpu, "after 200 threads ended");
  expect(gpu.sync().get_for(20s).has_value(), "everything is answered");
  expect(gpu.statistics().depth == 0, "no slot is lost");
  return exit_code();
}

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Forks a child that uses the parent's device: it must get errors, without an effect on the parent.
#include "unkind.hpp"

using namespace unkind;

int main() {
  runtime rt;
  const device gpu = rt.open_device(options());
  expect_works(gpu, "before");
  const pid_t child = ::fork();
  if (child == 0) {
    for (int i = 0; i < 50; ++i) gpu.tell(testing_actor::nap{.microseconds = 100});
    const std::vector<float> data(1000, 5.0f);
    auto answer = gpu.download(gpu.upload(data));
    const auto got = answer.get_for(3s);
    if (!got) ::_exit(3);  // hangs
    if (*got) ::_exit(4);  // pretends to serve
    (void)gpu.state();
    (void)gpu.statistics();
    (void)gpu.trim();
    ::_exit(gpu.ping().get_for(3s) ? 0 : 5);
  }
  for (int i = 0; i < 200; ++i)
    if (const std::string why = why_broken(gpu, i, 5s); !expect(why.empty(), "the parent's data: " + why)) break;
  failing_requests(gpu, 8).expect_failures("while a child uses the device");
  expect_exit(child, "the child");
  expect(gpu.statistics().faults == 0, "no worker was lost");
  return exit_code();
}

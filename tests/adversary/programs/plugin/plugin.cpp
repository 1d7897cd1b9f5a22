// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The shared object that loaded_and_unloaded loads.
#include "../unkind.hpp"

using namespace unkind;

extern "C" __attribute__((visibility("default"))) int use_device() {
  wrong = 0;
  runtime rt;
  const device gpu = rt.open_device(options());
  expect_works(gpu, "in a plug-in");
  kill_worker(gpu);
  expect_works(gpu, "in a plug-in after a fault");
  failing_requests(gpu, 4).expect_failures("in a plug-in");
  return exit_code();
}

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <bench/device_under_test.hpp>
#include <cstdlib>

namespace troupe::bench {
namespace {

// Returns the options of the measured device. It uses the worker installed beside this program, unless the user has
// chosen another one.
device_options as_asked(const settings& s, device_options options) {
  options.engine = s.engine;
  options.ordinal = s.ordinal;
  const char* set = std::getenv("TROUPE_RUNTIME");
  if (set == nullptr || *set == '\0') options.runtime_folder = s.runtime_folder;
  return options;
}

}  // namespace

device_under_test::device_under_test(const settings& s, device_options options)
    : device_(runtime_.open_device(as_asked(s, std::move(options)))) {
  device_.started().get().value();
}

}  // namespace troupe::bench

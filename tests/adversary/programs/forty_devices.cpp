// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Opens forty devices; then all of them lose their workers at the same moment.
#include "unkind.hpp"

using namespace unkind;

int main() {
  runtime rt;
  std::vector<device> all;
  for (int i = 0; i < 40; ++i) {
    device_options o = options();
    o.standbys = 0;
    o.memory_limit = 16 << 20;
    o.host_memory_limit = 16 << 20;
    o.start_timeout = 30s;
    all.push_back(rt.open_device(o));
  }
  for (int i = 0; i < 40; ++i) expect_works(all[static_cast<std::size_t>(i)], "with 39 others", i);
  for (const device& gpu : all) kill_worker(gpu);
  for (int i = 0; i < 40; ++i) expect_works(all[static_cast<std::size_t>(i)], "after 40 faults at once", i);
  std::vector<pending<void>> closing;
  for (const device& gpu : all) closing.push_back(gpu.close());
  for (auto& c : closing) expect(c.get_for(20s).has_value(), "a device closes");
  return exit_code();
}

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Two devices: one continues with the results of the other. Pass "cuda" for two GPUs.
#include <cstdio>
#include <troupe/device/peers.hpp>
#include <troupe/troupe.hpp>

using namespace troupe;

// No call waits in between; any error arrives with the download.
pending<std::vector<float>> through_both(const device& first, const device& second) {
  auto made = first.alloc<float>(1000), taken = second.alloc<float>(1000);
  first.fill(made, 1.5f);
  copy_between(second, taken, first, made);  // when it is filled
  first.fill(made, 0.0f);                    // when it has been copied
  return second.download(taken);
}

result<void> look_around(const std::vector<device>& devices) {
  const auto seen = peer(devices[0], devices[1]);
  if (!seen) return seen.error();
  std::printf("access: %s, link: %s\n", seen->access ? "yes" : "no", to_string(seen->link).data());
  const auto groups = islands(devices);
  if (!groups) return groups.error();
  for (const auto& group : *groups) std::printf("an island of %zu\n", group.size());
  return {};
}

int main(int argc, char** argv) {
  runtime rt;
  std::vector<device> devices;
  for (std::uint32_t i = 0; i < 2; ++i)
    devices.push_back(rt.open_device({.engine = argc > 1 ? argv[1] : "host", .ordinal = argc > 1 ? i : 0}));
  for (const device& d : devices)
    if (auto ready = d.started().get(); !ready)
      return std::fprintf(stderr, "%s\n", ready.error().to_string().c_str()), 1;
  const auto looked = look_around(devices);
  const auto got = through_both(devices[0], devices[1]).get();
  if (!looked || !got) return std::fprintf(stderr, "%s\n", (got ? looked.error() : got.error()).to_string().c_str()), 1;
  std::printf("%g\n", static_cast<double>(got->back()));
  return got->back() == 1.5f ? 0 : 1;
}

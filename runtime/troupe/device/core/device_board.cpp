// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>
#include <unistd.h>
#include <troupe/base/clock.hpp>
#include <troupe/device/core/check_options.hpp>
#include <troupe/device/core/device_board.hpp>
#include <troupe/device/workers/hardware.hpp>

#include <algorithm>
#include <bit>

namespace troupe {
namespace {

// The limit used until the first worker reports the GPU's memory.
constexpr std::uint64_t unknown_bytes = std::uint64_t{1} << 40;

// A worker reserves up to seven quarters of this with the default limits, and needs addresses for itself.
std::uint64_t usable_bytes() {
  rlimit addresses{};
  const bool limited = ::getrlimit(RLIMIT_AS, &addresses) == 0 && addresses.rlim_cur != RLIM_INFINITY;
  return limited ? std::min<std::uint64_t>(machine_bytes(), addresses.rlim_cur / 4) : machine_bytes();
}

device_memory::limits limits_of(const device_options& o, bool gpu) {
  const std::uint64_t all = usable_bytes();
  const auto limit = [](std::uint64_t asked, std::uint64_t otherwise) {
    return (asked != 0 ? asked : otherwise) / 256 * 256;
  };
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return {.device_bytes = limit(o.memory_limit, gpu ? unknown_bytes : all / 2),
          .host_bytes = limit(o.host_memory_limit, all / 4),
          .seal_granule = gpu ? segment_alignment : page,
          .seals_segments = gpu};
}

}  // namespace

device_board::device_board(device_options o, std::shared_ptr<control_loop> on, segment_source& segments,
                           const std::optional<staging_sizes>& sizes, log_sink log)
    : options(std::move(o)),
      gpu(has_platform(options, options.engine)),
      loop(std::move(on)),
      requests(check(options) ? 1 : std::bit_ceil(options.mailbox_capacity)),
      memory(*device_memory::make(segments, limits_of(options, gpu))),
      to_reactor(channel),
      events(options.name, memory, to_reactor, std::move(log)),
      room(requests, admission),
      cancelled(channel),
      copy_threads(gpu ? troupe::copy_threads::helpers_for(usable_cores()) : 0),
      downloads(copy_threads),
      staging(sizes.value_or(gpu ? staging_sizes::for_gpu() : staging_sizes())) {}

}  // namespace troupe

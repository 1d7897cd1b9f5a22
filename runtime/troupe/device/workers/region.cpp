// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>

#include <mutex>
#include <troupe/base/compiler/sanitizers.hpp>
#include <troupe/base/linux/process_home.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/channel/mapping.hpp>
#include <troupe/device/workers/address_space.hpp>
#include <troupe/device/workers/region.hpp>
#include <vector>

namespace troupe {
namespace {

// Far from the addresses at which Linux puts programs, libraries and heaps. The thread sanitizer allows only its own
// range.
constexpr std::uint64_t gib = std::uint64_t{1} << 30;
#if TROUPE_THREAD_SANITIZER
constexpr std::uint64_t first = 0x7e90'0000'0000, total = 1024 * gib;
constexpr std::uint64_t least_apart = 16 * gib, least_here = least_apart;
#else
constexpr std::uint64_t first = 0x2000'0000'0000, total = 64 * 1024 * gib;
constexpr std::uint64_t least_apart = 1024 * gib, least_here = 64 * gib;
#endif

struct shared_addresses {
  std::mutex lock;
  address_space unclaimed{first, total};
};
shared_addresses& addresses() {
  static per_process<shared_addresses> all;  // never destroyed: devices may outlive static objects
  return *all;
}

}  // namespace

void region_traits::close(type r) noexcept {
  const std::scoped_lock guard(addresses().lock);
  addresses().unclaimed.give_back(r.begin, r.bytes);
}

std::uint64_t region::least_bytes(enum isolation isolation) noexcept {
  rlimit addresses{};
  if (::getrlimit(RLIMIT_AS, &addresses) != 0 || addresses.rlim_cur != RLIM_INFINITY) return 0;
  return isolation == isolation::process ? least_apart : least_here;
}

result<region> region::claim(enum isolation isolation, std::uint64_t bytes) {
  region out;
  out.begin_ = first;
  if (isolation == isolation::process) return out;
  const std::scoped_lock guard(addresses().lock);
  address_space& unclaimed = addresses().unclaimed;
  std::vector<std::uint64_t> occupied;  // addresses that other mappings of the process use
  std::optional<std::uint64_t> begin;
  while ((begin = unclaimed.take(bytes)) && !address_reservation::reserve(bytes, *begin)) occupied.push_back(*begin);
  for (const std::uint64_t o : occupied) unclaimed.give_back(o, bytes);
  if (!begin)
    return error(least_bytes(isolation) == 0 ? reaction::fatal : reaction::retry_later, "device",
                 cat("no range of ", bytes >> 30,
                     " GiB of addresses is free; close devices, lower device_options::memory_limit and "
                     "host_memory_limit, or raise the limit of the address space (ulimit -v)"));
  out.begin_ = *begin;
  out.claimed_ = unique_handle<region_traits>({*begin, bytes});
  return out;
}

}  // namespace troupe

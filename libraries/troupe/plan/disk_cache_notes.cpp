// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <troupe/plan/disk_cache.hpp>

namespace troupe::plan {
namespace {

std::string cache_text(const disk_cache& cache) {
  if (cache.folder().empty()) {
    const char* const own = ::secure_getenv("TROUPE_CACHE");
    return own != nullptr && std::string_view(own) == "off"
               ? "off, because TROUPE_CACHE is off"
               : "none: set TROUPE_CACHE to a folder, because neither XDG_CACHE_HOME nor HOME is set";
  }
  const disk_cache::usage now = cache.measure_usage();
  if (!now.why_not.empty()) return "none: " + now.why_not;
  char fill[100];
  const auto mib = [](std::uint64_t bytes) { return static_cast<double>(bytes) / (1 << 20); };
  std::snprintf(fill, sizeof fill, "%llu %s, %.1f of at most %.0f MiB", static_cast<unsigned long long>(now.entries),
                now.entries == 1 ? "entry" : "entries", mib(now.bytes), mib(cache.most_bytes()));
  return cache.folder() + "\ncache size: " + fill;
}

}  // namespace

std::string notes_of(const disk_cache& cache) { return "cache: " + cache_text(cache); }

}  // namespace troupe::plan

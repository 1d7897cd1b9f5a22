// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <troupe/jit/host/notes.hpp>

namespace troupe::jit {
namespace {

std::string why_none(const error& e) {
  const std::string& text = e.text();
  const std::string begin = "jit.compile: ";
  return "none: " + (text.starts_with(begin) ? text.substr(begin.size()) : text);
}

std::string compiler_text(const installation& at) {
  const auto path = find_compiler({});
  if (!path) return why_none(path.error());
  // Asked anew: what the cache remembers need not run any more. A compiler that hangs must not make the engine seem to.
  const auto found = known_compilers().identify(at.keeper, *path, nullptr, time_span::of_seconds(3));
  if (!found) return why_none(found.error());
  return found->path + ", " + found->version;
}

std::string cache_text(const disk_cache& cache) {
  if (cache.folder().empty()) {
    const char* const own = std::getenv("TROUPE_CACHE");
    return own != nullptr && std::string_view(own) == "off"
               ? "off, as TROUPE_CACHE says"
               : "none: set TROUPE_CACHE to a folder, as neither XDG_CACHE_HOME nor HOME is set";
  }
  const disk_cache::fill now = cache.look();
  if (!now.why_not.empty()) return "none: " + now.why_not;
  char fill[100];
  const auto mib = [](std::uint64_t bytes) { return static_cast<double>(bytes) / (1 << 20); };
  std::snprintf(fill, sizeof fill, "%llu %s, %.1f of at most %.0f MiB", static_cast<unsigned long long>(now.entries),
                now.entries == 1 ? "entry" : "entries", mib(now.bytes), mib(cache.most_bytes()));
  return cache.folder() + "\ncache size: " + fill;
}

}  // namespace

std::string notes_of(const installation& at, const disk_cache& cache) {
  return "compiler: " + compiler_text(at) + "\ncache: " + cache_text(cache);
}

}  // namespace troupe::jit

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>
#include <algorithm>
#include <troupe/base/numbers/round_up.hpp>
#include <troupe/base/try.hpp>
#include <troupe/worker/plugins/placed_memory.hpp>

namespace troupe {

// The rest of a file's last page reads as zeros already.
std::uintptr_t placed_memory::end_of(const mapping& m) noexcept {
  static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  return round_up(m.address() + m.size(), page);
}

std::byte* placed_memory::find(std::uintptr_t address) const noexcept {
  const auto at = std::find_if(all_.begin(), all_.end(), [&](const mapping& m) { return m.address() == address; });
  return at == all_.end() ? nullptr : at->data();
}

result<std::byte*> placed_memory::place(const memory_file& file, map_access access, std::uintptr_t address) {
  auto placed = TROUPE_TRY(addresses_.place(file, access, address));
  // May fail: at the end of the addresses there is no room for this page.
  if (const std::uintptr_t end = end_of(placed); !any_begins(end)) (void)addresses_.show_zeros(end);
  std::byte* const data = placed.data();
  all_.push_back(std::move(placed));
  return data;
}

void placed_memory::remove(std::uintptr_t address) noexcept {
  const auto at = std::find_if(all_.begin(), all_.end(), [&](const mapping& m) { return m.address() == address; });
  if (at == all_.end()) return;
  mapping gone = std::move(*at);
  all_.erase(at);
  const bool before =
      std::any_of(all_.begin(), all_.end(), [&](const mapping& m) { return end_of(m) == gone.address(); });
  if (const std::uintptr_t end = end_of(gone); !any_begins(end)) addresses_.hide_zeros(end);
  addresses_.remove(std::move(gone), before);
}

}  // namespace troupe

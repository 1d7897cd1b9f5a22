// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "scene.hpp"

#include <sys/stat.h>

#include <troupe/channel/memory_file.hpp>

namespace troupe::simulation {

void scene::place(std::uint64_t address, const memory_file& memory, bool read_only) {
  struct ::stat s;
  if (::fstat(memory.fd(), &s) != 0) record.fail("an invalid memory file");
  if (const auto old = placed_.find(address); old != placed_.end()) {
    if (old->second.file == s.st_ino) return;
    placed_.erase(old);
  }
  auto made = mapping::map(memory, read_only ? map_access::read_only : map_access::read_write, address);
  if (!made) record.fail("memory cannot be placed: " + made.error().text());
  placed_.emplace(address, placed{s.st_ino, std::move(*made)});
}

}  // namespace troupe::simulation

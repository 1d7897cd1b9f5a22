// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <span>
#include <troupe/base/linux/file_descriptor.hpp>

#include <tests/contract/harness.hpp>

namespace troupe::whole {

/// Returns memory as another program would make it for `import_memory`. The memory after `content` is 0, and sparse.
inline file_descriptor memory_of_others(std::uint64_t bytes, std::span<const float> content = {},
                                        int seals = F_SEAL_SHRINK | F_SEAL_GROW) {
  file_descriptor fd(::memfd_create("theirs", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(::write(fd.get(), content.data(), content.size_bytes()), static_cast<ssize_t>(content.size_bytes()));
  EXPECT_EQ(::ftruncate(fd.get(), static_cast<off_t>(bytes)), 0);
  EXPECT_EQ(::fcntl(fd.get(), F_ADD_SEALS, seals), 0);
  return fd;
}

}  // namespace troupe::whole

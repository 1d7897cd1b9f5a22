// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>
#include <troupe/base/linux/file_descriptor.hpp>

namespace troupe {

void file_descriptor_traits::close(int fd) noexcept { ::close(fd); }

}  // namespace troupe

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>

#include <troupe/base/linux/errno_reaction.hpp>
#include <troupe/base/linux/file_descriptor.hpp>
#include <troupe/base/result.hpp>

namespace troupe {

/// Duplicates a descriptor to a number above those of standard input, output and error. `what` names the operation in
/// the error: "export_memory: dup".
inline result<file_descriptor> duplicate(int fd, const char* what) {
  file_descriptor out(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
  if (!out) return error_of_errno("memory", what);
  return out;
}

}  // namespace troupe

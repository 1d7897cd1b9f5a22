// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/linux/unique_handle.hpp>

namespace troupe {

/// The traits of a file descriptor.
struct file_descriptor_traits {
  using type = int;
  static constexpr int null = -1;
  static void close(int fd) noexcept;
};

using file_descriptor = unique_handle<file_descriptor_traits>;

}  // namespace troupe

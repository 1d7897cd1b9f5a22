// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace troupe {

/// Writes all bytes to an open file. Returns false, with the reason in errno, if the disk is full or the limit on file
/// sizes is reached; that limit would otherwise end the process.
bool write_all(int fd, std::string_view bytes);

}  // namespace troupe

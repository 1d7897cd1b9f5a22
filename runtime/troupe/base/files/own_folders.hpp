// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// Returns the folder of the disk cache: TROUPE_CACHE if set, otherwise `troupe` in XDG_CACHE_HOME or in ~/.cache.
/// Empty if TROUPE_CACHE is "off", or if no such folder is known.
std::string cache_folder();

/// Splits a list such as PATH at its colons; omits empty folders.
std::vector<std::string> folders_in(std::string_view list);

/// Returns the folder for temporary files: TMPDIR if it is an absolute path, otherwise /tmp.
std::string temporary_folder();

}  // namespace troupe

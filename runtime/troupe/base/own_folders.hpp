// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace troupe {

/// Returns the folder of the disk cache: TROUPE_CACHE, otherwise troupe in XDG_CACHE_HOME or in ~/.cache; empty: none.
std::string cache_folder();

/// Returns the folder for temporary files: TMPDIR if it is an absolute path, otherwise /tmp.
std::string temporary_folder();

}  // namespace troupe

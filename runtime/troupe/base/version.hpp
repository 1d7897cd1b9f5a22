// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The version of these headers, for `#if TROUPE_VERSION >= 100` (100 is 0.1.0). CMake reads it from here.
#define TROUPE_VERSION_MAJOR 0
#define TROUPE_VERSION_MINOR 1
#define TROUPE_VERSION_PATCH 0
#define TROUPE_VERSION (TROUPE_VERSION_MAJOR * 10000 + TROUPE_VERSION_MINOR * 100 + TROUPE_VERSION_PATCH)

namespace troupe {

/// Returns the version of the library that this program is linked with: "0.1.0".
const char* version() noexcept;

}  // namespace troupe

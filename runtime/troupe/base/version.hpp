// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The version of these headers, for `#if TROUPE_VERSION >= 100` (0.1.0). CMake reads it here as well.
#define TROUPE_VERSION_MAJOR 0
#define TROUPE_VERSION_MINOR 1
#define TROUPE_VERSION_PATCH 0
#define TROUPE_VERSION (TROUPE_VERSION_MAJOR * 10000 + TROUPE_VERSION_MINOR * 100 + TROUPE_VERSION_PATCH)

namespace troupe {

/// The version of the library that this program is linked with, as text: "0.1.0".
const char* version() noexcept;

}  // namespace troupe

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/version.hpp>

#define TROUPE_TEXT(x) #x
#define TROUPE_TEXT_OF(x) TROUPE_TEXT(x)

namespace troupe {

const char* version() noexcept {
  return TROUPE_TEXT_OF(TROUPE_VERSION_MAJOR) "." TROUPE_TEXT_OF(TROUPE_VERSION_MINOR) "." TROUPE_TEXT_OF(
      TROUPE_VERSION_PATCH);
}

}  // namespace troupe

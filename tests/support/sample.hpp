// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <string_view>
#include <troupe/base/hash/fnv.hpp>

namespace troupe::testing {

/// Returns true if TROUPE_TESTS is "all": then tests whose cases take minutes of a processor run all of them, rather
/// than a sample.
inline bool runs_all_cases() {
  const char* const tests = std::getenv("TROUPE_TESTS");
  return tests != nullptr && std::string_view(tests) == "all";
}

/// Returns true if the case that `text` describes is in the sample, which is one of `parts` parts of all cases; always
/// if TROUPE_TESTS is "all". Each `version` of what is tested has another sample.
inline bool is_in_sample(std::string_view text, std::uint64_t parts, std::uint64_t version) {
  return runs_all_cases() || (fnv1a(text) + version) % parts == 0;
}

}  // namespace troupe::testing

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// A library that reads its environment while it is loaded, as OpenBLAS does.
#include <cstdlib>
#include <string>

namespace {

const std::string seen = [] {
  const char* const value = std::getenv("TROUPE_TEST_SETTING");
  if (std::getenv("TROUPE_TEST_CHANGE") != nullptr) ::setenv("TROUPE_TEST_CHANGE", "made while loading", 1);
  return std::string(value == nullptr ? "nothing" : value);
}();

}  // namespace

extern "C" __attribute__((visibility("default"))) const char* troupe_seen_while_loading() { return seen.c_str(); }

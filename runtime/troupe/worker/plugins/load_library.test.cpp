// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <troupe/worker/plugins/load_library.hpp>

namespace troupe {
namespace {

// Loads the library with `setting`, unloads it, and returns the value that the library read.
std::string seen_with(const std::string& setting) {
  void* const library = load_library(TROUPE_ENVIRONMENT_WITNESS, RTLD_NOW | RTLD_LOCAL, {setting});
  if (library == nullptr) return ::dlerror();
  const auto seen = reinterpret_cast<const char* (*)()>(::dlsym(library, "troupe_seen_while_loading"));
  std::string out = seen == nullptr ? "no such function" : seen();
  ::dlclose(library);
  return out;
}

TEST(load_library, adds_a_setting_to_the_librarys_environment_and_removes_it_afterwards) {
  char** const before = ::environ;
  EXPECT_EQ(seen_with(""), "nothing");
  EXPECT_EQ(seen_with("TROUPE_TEST_SETTING=one"), "one");
  EXPECT_EQ(seen_with("TROUPE_TEST_SETTING=two"), "two");
  EXPECT_EQ(std::getenv("TROUPE_TEST_SETTING"), nullptr);
  EXPECT_EQ(::environ, before) << "the same memory, which other threads may be reading";
}

TEST(load_library, fails_with_a_reason_and_leaves_no_setting_behind) {
  EXPECT_EQ(load_library("/there/is/no/such.so", RTLD_NOW, {"TROUPE_TEST_SETTING=one"}), nullptr);
  EXPECT_NE(std::string(::dlerror()).find("/there/is/no/such.so"), std::string::npos);
  EXPECT_EQ(std::getenv("TROUPE_TEST_SETTING"), nullptr);
}

TEST(load_library, keeps_changes_that_the_library_makes_to_the_environment) {
  ::setenv("TROUPE_TEST_CHANGE", "before", 1);
  EXPECT_EQ(seen_with("TROUPE_TEST_SETTING=one"), "one");
  EXPECT_STREQ(std::getenv("TROUPE_TEST_CHANGE"), "made while loading");
  ::unsetenv("TROUPE_TEST_CHANGE");
  ::unsetenv("TROUPE_TEST_SETTING");
}

// Does what ::getenv does, but visibly to the address sanitizer.
std::string value_of(std::string_view name) {
  for (char** at = __atomic_load_n(&::environ, __ATOMIC_ACQUIRE); *at != nullptr; ++at) {
    const std::string_view one = *at;
    if (one.starts_with(name) && one.substr(name.size()).starts_with('='))
      return std::string(one.substr(name.size() + 1));
  }
  return "missing";
}

TEST(load_library, does_not_disturb_threads_that_read_the_environment_meanwhile) {
  ::setenv("TROUPE_TEST_READ", "always there", 1);  // from now on setenv owns the environment's memory
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::thread reader([&] {
    while (!stop.load()) {
      if (value_of("TROUPE_TEST_READ") != "always there") ++wrong;
    }
  });
  for (int i = 0; i < 100; ++i) EXPECT_EQ(seen_with("TROUPE_TEST_SETTING=" + std::to_string(i)), std::to_string(i));
  stop = true;
  reader.join();
  EXPECT_EQ(wrong, 0);
  ::unsetenv("TROUPE_TEST_READ");
}

}  // namespace
}  // namespace troupe

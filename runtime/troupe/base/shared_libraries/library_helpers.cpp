// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <sys/prctl.h>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <troupe/base/shared_libraries/library_helpers.hpp>
#include <troupe/base/threads/helper_places.hpp>

namespace troupe {
namespace {

constexpr const char* name = "library-helper";

}  // namespace

names_helpers::names_helpers() noexcept {
  if (::prctl(PR_GET_NAME, before_.data()) == 0) (void)::prctl(PR_SET_NAME, name);
}
names_helpers::~names_helpers() {
  if (before_.front() != '\0') (void)::prctl(PR_SET_NAME, before_.data());
}

std::vector<pid_t> library_helpers() {
  std::vector<pid_t> out;
  std::error_code ignored;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", ignored)) {
    std::string its;
    std::getline(std::ifstream(thread.path() / "comm"), its);
    const std::string number = thread.path().filename();
    pid_t id = 0;
    if (its == name && std::from_chars(number.data(), number.data() + number.size(), id).ec == std::errc())
      out.push_back(id);
  }
  return out;
}

void keep_helpers_away(std::size_t count) noexcept try {
  // Helpers belong to the process, so all its threads share this state.
  static std::mutex lock;
  static std::vector<pid_t> helpers;
  static helper_places places;
  static int looks = 0;
  constexpr int most_looks = 16;
  if (count == 0) return;
  const std::scoped_lock guard(lock);
  // Looked up again if the number differs: another thread, which still has the name of helpers, may be loading a
  // library.
  if (helpers.size() != count && looks < most_looks) ++looks, helpers = library_helpers();
  if (helpers.size() == count) places.place(helpers);
} catch (...) {
  // The helpers stay where they are: slower, but correct.
}

}  // namespace troupe

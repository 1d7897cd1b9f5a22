// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <troupe/base/shared_libraries/library_helpers.hpp>
#include <troupe/channel/process/process.hpp>
#include <troupe/worker/plugins/load_library.hpp>
#include <troupe/worker/plugins/openblas_kernels.hpp>
#include <troupe/worker/plugins/openblas_threads.hpp>

namespace troupe {
namespace {

std::atomic<bool> helpers_are_noted{false};

// An environment with more variables. Never freed, because a thread may keep a pointer into it.
struct longer_environment {
  longer_environment(std::vector<char*> others, std::vector<std::string> settings) : added(std::move(settings)) {
    for (std::string& one : added) others.push_back(one.data());
    others.push_back(nullptr);
    as_made = variables = std::move(others);
  }
  bool is_unchanged() const { return variables == as_made; }
  bool has(const std::vector<char*>& others, const std::vector<std::string>& settings) const {
    return added == settings && as_made.size() == others.size() + added.size() + 1 &&
           std::equal(others.begin(), others.end(), as_made.begin());
  }

  std::vector<std::string> added;
  std::vector<char*> variables, as_made;
};

std::vector<char*> variables_of(char** environment) {
  std::vector<char*> out;
  for (; environment != nullptr && *environment != nullptr; ++environment) out.push_back(*environment);
  return out;
}

// Returns the present environment with `settings` added: the same object as long as both are unchanged.
longer_environment& with(std::vector<std::string> settings) {
  static auto& kept = *new std::vector<std::unique_ptr<longer_environment>>;
  std::vector<char*> now = variables_of(::environ);
  for (const auto& one : kept)
    if (one->is_unchanged() && one->has(now, settings)) return *one;
  return *kept.emplace_back(std::make_unique<longer_environment>(std::move(now), std::move(settings)));
}

void put_in_place(char** environment) { __atomic_store_n(&::environ, environment, __ATOMIC_RELEASE); }

void* load_with(const char* path, int flags, std::vector<std::string> settings) {
  std::erase(settings, "");
  std::optional<notes_helpers> noted;
  if (helpers_are_noted) noted.emplace();
  if (settings.empty()) return ::dlopen(path, flags);
  char** const before = ::environ;
  longer_environment& longer = with(std::move(settings));
  put_in_place(longer.variables.data());
  void* const library = ::dlopen(path, flags);
  if (::environ == longer.variables.data() && longer.is_unchanged()) put_in_place(before);
  return library;
}

}  // namespace

void note_helpers_of_libraries() noexcept { helpers_are_noted = true; }

void* load_library(const char* path, int flags, std::vector<std::string> settings) {
  const std::lock_guard guard(environment_lock());
  return load_with(path, flags, std::move(settings));
}

void* load_library(const char* path, int flags) {
  const std::lock_guard guard(environment_lock());  // here() must not read another thread's setting
  std::vector<std::string> settings = openblas_thread_settings();
  settings.push_back(kernel_choice::here().setting());
  return load_with(path, flags, std::move(settings));
}

}  // namespace troupe

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Uses the library in a shared object that is loaded and unloaded repeatedly.
#include <dlfcn.h>

#include <filesystem>

#include "unkind.hpp"

using namespace unkind;

int main() {
  for (int i = 0; i < 5; ++i) {
    void* const loaded = ::dlopen(TROUPE_UNKIND_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    if (!expect(loaded != nullptr, std::string("the plug-in loads: ") + (loaded != nullptr ? "" : ::dlerror()))) break;
    const auto use = reinterpret_cast<int (*)()>(::dlsym(loaded, "use_device"));
    expect(use != nullptr && use() == 0, "a device in a plug-in works");
    expect(::dlclose(loaded) == 0, "the plug-in unloads");
    // No thread may still run code that was unloaded.
    int threads = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) threads += !entry.path().empty();
    expect(threads == 1, std::to_string(threads) + " threads are left");
  }
  return exit_code();
}

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include <cerrno>
#include <fstream>
#include <troupe/worker/plugins/platform.hpp>

namespace troupe {

result<std::unique_ptr<platform>> load_platform(const std::string& backend, const std::vector<std::string>& folders,
                                                const platform_options& o, const std::vector<opened_plug_in>& opened) {
  const auto missing = [&backend](std::string text) {
    return error(reaction::unsupported, "worker", "the " + backend + " backend: " + std::move(text));
  };
  for (const std::string& folder : folders) {
    const std::string stem = folder + "/platform." + backend;
    const auto path = find_plug_in(stem + ".so", opened);
    if (!path && path.error().code() == ENOENT) continue;
    if (!path) return missing(path.error().text());
    // Never closed: a context lives as long as the process.
    void* const file = ::dlopen(path->c_str(), RTLD_NOW | RTLD_LOCAL);
    if (file == nullptr) {
      std::string text = std::string("cannot load it: ") + ::dlerror(), package;
      if (std::ifstream needs(stem + ".needs"); std::getline(needs, package) && !package.empty())
        text += "; install " + package;
      return missing(std::move(text));
    }
    const auto open = reinterpret_cast<troupe_platform_open_fn>(::dlsym(file, "troupe_platform_open_5"));
    if (open == nullptr)
      return missing(*path + " is not of this version of Troupe; install worker and engines together");
    result<std::unique_ptr<platform>> out(nullptr);
    open(o, &out);
    return out;
  }
  return std::unique_ptr<platform>();
}

}  // namespace troupe

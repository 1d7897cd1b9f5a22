// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include <string>
#include <troupe/base/compiler/sanitizers.hpp>
#include <troupe/base/files/kept_file.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/fft/host/load_transforms.hpp>

namespace troupe::fft {
namespace {

const char* family_of_processor() noexcept {
#if defined(__x86_64__) && !TROUPE_ADDRESS_SANITIZER && !TROUPE_THREAD_SANITIZER  // sanitizer builds have one library
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v4")) return "v4";
  if (__builtin_cpu_supports("x86-64-v3")) return "v3";
#endif
  return "any";
}

}  // namespace

result<const transforms*> load_transforms(const std::filesystem::path& folder) {
  const std::string file = (folder / cat("transforms.", family_of_processor(), ".so")).string();
  const auto path = path_of_kept_file(file, "fft");
  if (!path)
    return error(reaction::unsupported, "fft",
                 cat("fft.host: ", path.error().text(), "; install Troupe again, with all of its run-time files"));
  void* const library = ::dlopen(path->c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return error(reaction::unsupported, "fft",
                 cat("fft.host: ", ::dlerror(), "; install Troupe again, with all of its run-time files"));
  const auto get = reinterpret_cast<decltype(&troupe_fft_transforms)>(::dlsym(library, transforms_symbol));
  if (get == nullptr)
    return error(reaction::fatal, "fft", cat(file, " does not define ", transforms_symbol, "; install Troupe again"));
  return get();
}

}  // namespace troupe::fft

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include <troupe/base/shared_libraries/library_functions.hpp>
#include <troupe/base/text/cat.hpp>

namespace troupe {

library_functions::library_functions(std::initializer_list<std::string> files) {
  for (const std::string& file : files) {
    if (file.empty()) continue;  // dlopen("") would open the program itself
    library_ = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library_ != nullptr) {
      file_ = file, missing_.clear();
      return;
    }
    const char* const said = ::dlerror();
    if (missing_.empty()) missing_ = said != nullptr ? said : file + " cannot be loaded";
  }
  if (missing_.empty()) missing_ = "no path of the library is known";
}

void* library_functions::find(const char* name) {
  if (library_ == nullptr) return nullptr;
  void* const found = ::dlsym(library_, name);
  if (found == nullptr && missing_.empty()) missing_ = cat(file_, " has no ", name);
  return found;
}

}  // namespace troupe

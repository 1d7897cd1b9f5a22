// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include <cstdlib>
#include <troupe/base/cat.hpp>
#include <troupe/dnn/cudnn/functions.hpp>
#include <utility>

namespace troupe::dnn::cudnn {
namespace {

functions loaded;

std::string find_all() {
  const char* const named = std::getenv("TROUPE_CUDNN");
  const std::string file = named != nullptr && *named != '\0' ? named : cat("libcudnn.so.", CUDNN_MAJOR);
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const said = ::dlerror();
    return said != nullptr ? said : file + " cannot be loaded";
  }
  std::string missing;
  const auto find = [&](auto& call, const char* name) {
    call = reinterpret_cast<std::remove_reference_t<decltype(call)>>(::dlsym(library, name));
    if (call == nullptr) missing = name;
  };
  find(loaded.version, "cudnnGetVersion");
  find(loaded.text_of_status, "cudnnGetErrorString");
  find(loaded.last_text, "cudnnGetLastErrorString");
  find(loaded.create, "cudnnCreate");
  find(loaded.destroy, "cudnnDestroy");
  find(loaded.set_stream, "cudnnSetStream");
  find(loaded.create_descriptor, "cudnnBackendCreateDescriptor");
  find(loaded.destroy_descriptor, "cudnnBackendDestroyDescriptor");
  find(loaded.set_attribute, "cudnnBackendSetAttribute");
  find(loaded.get_attribute, "cudnnBackendGetAttribute");
  find(loaded.finalize, "cudnnBackendFinalize");
  find(loaded.execute, "cudnnBackendExecute");
  return missing.empty() ? "" : cat(file, " has no ", missing);
}

}  // namespace

result<void> load() {
  static const std::string why_not = find_all();
  if (why_not.empty()) return {};
  return error(reaction::unsupported, "dnn", cat("cuDNN is not used: ", why_not));
}

const functions& calls() noexcept { return loaded; }

}  // namespace troupe::dnn::cudnn

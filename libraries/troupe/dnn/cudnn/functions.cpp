// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <troupe/base/shared_libraries/library_functions.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/cudnn/functions.hpp>

namespace troupe::dnn::cudnn {
namespace {

functions loaded;

std::string find_all() {
  const char* const named = ::secure_getenv("TROUPE_CUDNN");
  const std::string file = named != nullptr && *named != '\0' ? named : cat("libcudnn.so.", CUDNN_MAJOR);
  library_functions library({file});
  library.find(loaded.version, "cudnnGetVersion");
  library.find(loaded.text_of_status, "cudnnGetErrorString");
  library.find(loaded.last_text, "cudnnGetLastErrorString");
  library.find(loaded.create, "cudnnCreate");
  library.find(loaded.destroy, "cudnnDestroy");
  library.find(loaded.set_stream, "cudnnSetStream");
  library.find(loaded.create_descriptor, "cudnnBackendCreateDescriptor");
  library.find(loaded.destroy_descriptor, "cudnnBackendDestroyDescriptor");
  library.find(loaded.set_attribute, "cudnnBackendSetAttribute");
  library.find(loaded.get_attribute, "cudnnBackendGetAttribute");
  library.find(loaded.finalize, "cudnnBackendFinalize");
  library.find(loaded.execute, "cudnnBackendExecute");
  return library.missing();
}

}  // namespace

result<void> load() {
  static const std::string why_not = find_all();
  if (why_not.empty()) return {};
  return error(reaction::unsupported, "dnn", cat("cuDNN is not used: ", why_not));
}

const functions& calls() noexcept { return loaded; }

}  // namespace troupe::dnn::cudnn

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
#define TROUPE_FIND(NAME, SYMBOL) library.find(loaded.NAME, #SYMBOL);
  TROUPE_CUDNN_FUNCTIONS(TROUPE_FIND)
#undef TROUPE_FIND
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

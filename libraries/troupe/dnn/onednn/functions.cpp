// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/shared_libraries/library_functions.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/onednn/functions.hpp>

namespace troupe::dnn::onednn {
namespace {

functions loaded;

std::string find_all() {
  library_functions library({"libdnnl.so.2"});
#define TROUPE_FIND(NAME, SYMBOL) library.find(loaded.NAME, #SYMBOL);
  TROUPE_ONEDNN_FUNCTIONS(TROUPE_FIND)
#undef TROUPE_FIND
  // Functions of OpenMP, in GNU's runtime, with which oneDNN was linked. Other runtimes have not been checked.
  library.find(loaded.set_threads, "omp_set_num_threads");
  library.find(loaded.binding, "omp_get_proc_bind");
  library.find(loaded.thread_number, "omp_get_thread_num");
  library.find(loaded.run_in_parallel, "GOMP_parallel");
  return library.missing();
}

}  // namespace

result<void> load() {
  static const std::string why_not = find_all();
  if (why_not.empty()) return {};
  return error(reaction::unsupported, "dnn", cat("oneDNN is not used: ", why_not));
}

const functions& calls() noexcept { return loaded; }

}  // namespace troupe::dnn::onednn

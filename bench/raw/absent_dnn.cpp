// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <bench/raw/cuda_libraries.hpp>
#include <troupe/base/result.hpp>

namespace troupe::bench {

std::unique_ptr<raw_dnn> make_dnn(int) {
  throw bad_result(error(reaction::unsupported, "bench", "the plug-in of the raw calls was built without cuDNN"));
}

}  // namespace troupe::bench

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/cuda/errors.hpp>

namespace troupe::cuda {

std::string version_text(int version) { return cat(version / 1000, ".", version % 1000 / 10); }

std::string text_of(CUresult r) {
  const char *name = nullptr, *text = nullptr;
  (void)::cuGetErrorName(r, &name);
  (void)::cuGetErrorString(r, &text);
  return (name != nullptr ? std::string(name) : cat("CUresult ", static_cast<int>(r))) +
         (text != nullptr ? std::string(" (") + text + ")" : std::string());
}

}  // namespace troupe::cuda

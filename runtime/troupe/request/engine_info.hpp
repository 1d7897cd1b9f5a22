// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace troupe {

/// An engine that a worker has loaded.
struct engine_info {
  std::string library;  ///< "blas"
  std::string backend;  ///< "host", "cuda"
  std::string version;  ///< version of the vendor's library, in its own words: "OpenBLAS 0.3.21"

  bool operator==(const engine_info&) const = default;
};

}  // namespace troupe

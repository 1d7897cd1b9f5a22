// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/cuda_on_host/translate/internal/edits.hpp>
#include <troupe/cuda_on_host/translate/internal/parameters.hpp>
#include <vector>

namespace troupe::cuda_on_host {

/// Each thread has its own copy of the parameters; the compiler sees where that makes no difference.
struct own_parameters {
  std::string outside;     ///< placed outside of the loop over threads
  std::string begin, end;  ///< placed around the code of one thread
};
own_parameters make_own(const edited_source& source, const std::vector<kernel_parameter>& parameters);

}  // namespace troupe::cuda_on_host

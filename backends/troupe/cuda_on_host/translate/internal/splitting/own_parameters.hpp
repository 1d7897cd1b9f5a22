// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/cuda_on_host/translate/internal/edits.hpp>
#include <troupe/cuda_on_host/translate/internal/parsing/parameters.hpp>
#include <vector>

namespace troupe::cuda_on_host {

/// Code that gives each thread its own copy of the parameters. The compiler removes the copies that make no difference.
struct own_parameters {
  std::string outside;     ///< code before the loop over threads
  std::string begin, end;  ///< code around the code of one thread
};
own_parameters make_own(const edited_source& source, const std::vector<kernel_parameter>& parameters);

}  // namespace troupe::cuda_on_host

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace troupe::jit {

/// One source of a recipe.
struct source_text {
  const std::string& name;
  const std::string& text;
  const std::vector<std::string>&kernels, &globals;  ///< names whose spelling in the image is needed
};

}  // namespace troupe::jit

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <troupe/jit/cuda/source_text.hpp>
#include <troupe/jit/recipe.hpp>

namespace troupe::jit {

/// One source of a recipe, without the functions, classes and variables that are for the host alone. Nothing when there
/// are none, or when nobody knows which headers it includes.
std::optional<std::string> without_host_code(const recipe& r, const source_text& source);

}  // namespace troupe::jit

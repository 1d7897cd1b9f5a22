// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <troupe/jit/cuda/source_text.hpp>
#include <troupe/jit/recipe.hpp>

namespace troupe::jit {

/// Returns one source of a recipe without its host-only functions, classes and variables. Returns nullopt if the source
/// has none, or if it is unknown which headers it includes.
std::optional<std::string> without_host_code(const recipe& r, const source_text& source);

}  // namespace troupe::jit

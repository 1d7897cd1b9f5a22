// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <troupe/jit/recipe.hpp>

namespace troupe::cutlass {

/// How the source of a kernel is compiled. The recipe has all headers that the source includes. `name` is for messages.
jit::recipe recipe_of(const std::string& source, const std::string& name);

/// Returns a number that is another one for other templates.
std::uint64_t version_of_templates() noexcept;

}  // namespace troupe::cutlass

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <troupe/jit/recipe.hpp>

namespace troupe::cutlass {

/// Returns the recipe that compiles a kernel's source, with all headers that it includes. `name` is for messages.
jit::recipe recipe_of(const std::string& source, const std::string& name);

/// Returns a hash of the templates' text, which is part of each cache key.
std::uint64_t version_of_templates() noexcept;

}  // namespace troupe::cutlass

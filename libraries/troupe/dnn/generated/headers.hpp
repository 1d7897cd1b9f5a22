// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/jit/recipe.hpp>

namespace troupe::dnn::generated {

/// Returns the recipe that compiles a generated source. It contains all headers that the source includes, except those
/// of CUDA and C++.
jit::recipe recipe_of(const std::string& source);

}  // namespace troupe::dnn::generated

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/jit/recipe.hpp>

namespace troupe::dnn::generated {

/// How a generated source is compiled. The recipe has all headers that the source includes, except those of CUDA and of
/// C++.
jit::recipe recipe_of(const std::string& source);

}  // namespace troupe::dnn::generated

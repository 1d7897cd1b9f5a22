// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <troupe/jit/recipe.hpp>

namespace troupe::jit {

/// A recipe as the worker has received it.
struct decoded_recipe {
  recipe full;
  std::string_view what;  ///< the encoded fields that affect the image: part of every key
};

/// Makes relative folders absolute, because the application's current folder is not the worker's.
void make_absolute(list<std::string>& folders);

std::string encode(const recipe& r);
/// Returns nullopt if the bytes are not a valid recipe. The result refers to `bytes`.
std::optional<decoded_recipe> decode(std::string_view bytes);
template <std::same_as<std::string> Temporary>
std::optional<decoded_recipe> decode(Temporary&&) = delete;

}  // namespace troupe::jit

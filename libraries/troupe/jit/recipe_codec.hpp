// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <troupe/jit/recipe.hpp>

namespace troupe::jit {

/// A recipe as the worker finds it.
struct decoded_recipe {
  recipe full;
  std::string_view what;  ///< the bytes of all that decides what is compiled: part of every key
};

/// A folder is found from where the application is, whatever the worker's is.
void make_absolute(list<std::string>& folders);

std::string encode(const recipe& r);
/// Nothing when the bytes are no recipe. The view is into `bytes`.
std::optional<decoded_recipe> decode(std::string_view bytes);
template <std::same_as<std::string> Temporary>
std::optional<decoded_recipe> decode(Temporary&&) = delete;

}  // namespace troupe::jit

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <troupe/cuda_on_host/translate/internal/parsing/functions.hpp>
#include <troupe/cuda_on_host/translate/token.hpp>
#include <unordered_set>

namespace troupe::cuda_on_host {

/// Finds what makes the meaning of a source's tokens uncertain, once its declarations are known: sets the members
/// `takes_references`, `has_operators`, `uses_foreign_namespace` and `has_hidden_uses`. `reference_aliases` are aliases
/// of types that may be references, `namespaces` the user's own namespaces.
void find_ambiguities(const token_list& source, const std::unordered_set<std::string_view>& reference_aliases,
                      const std::unordered_set<std::string_view>& namespaces, unit& u);

}  // namespace troupe::cuda_on_host

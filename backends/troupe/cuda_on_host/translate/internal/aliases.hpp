// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/cuda_on_host/translate/internal/edits.hpp>
#include <troupe/cuda_on_host/translate/internal/functions.hpp>
#include <troupe/cuda_on_host/translate/translate.hpp>
#include <unordered_map>
#include <vector>

namespace troupe::cuda_on_host {

/// Unique names of kernels that share their name with other kernels.
using kernel_aliases = std::unordered_map<const definition*, std::string>;

/// Gives each kernel among several of the same name an alias, placed after its body, where its parameter types have
/// the same meaning. Reports requested names that several kernels have.
kernel_aliases add_aliases(edited_source& source, const token_list& tokens, const unit& u,
                           const translate_options& options, std::vector<finding>& findings);

}  // namespace troupe::cuda_on_host

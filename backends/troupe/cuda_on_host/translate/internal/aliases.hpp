// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/cuda_on_host/translate/internal/edits.hpp>
#include <troupe/cuda_on_host/translate/internal/parsing/functions.hpp>
#include <troupe/cuda_on_host/translate/translate.hpp>
#include <unordered_map>
#include <vector>

namespace troupe::cuda_on_host {

/// Unique names for kernels that have the same name as others.
using kernel_aliases = std::unordered_map<const definition*, std::string>;

/// Gives an alias to each kernel whose name other kernels share. The alias is placed after the kernel's body, where its
/// parameter types have the same meaning. Reports requested names that several kernels have.
kernel_aliases add_aliases(edited_source& source, const token_list& tokens, const unit& u,
                           const translate_options& options, std::vector<finding>& findings);

}  // namespace troupe::cuda_on_host

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cuda_on_host/translate/internal/parsing/functions.hpp>
#include <troupe/cuda_on_host/translate/token.hpp>
#include <troupe/cuda_on_host/translate/translate.hpp>

namespace troupe::cuda_on_host {

/// Returns the last token of a name expression before its template arguments: `sum` of "ns::sum<float, 256>".
std::string last_identifier(const std::string& name_expression);

/// Finds names in the options that the compiler would report less clearly: kernels and variables that the source does
/// not mention, and functions without __global__ that are requested as kernels.
std::vector<finding> find_unknown_names(const token_list& tokens, const unit& u, const translate_options& options);

}  // namespace troupe::cuda_on_host

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cuda_on_host/translate/token.hpp>
#include <troupe/cuda_on_host/translate/translate.hpp>

namespace troupe::cuda_on_host {

/// Sets the tokens' columns to those in the user's files. Macros and comments before a token shift it in the
/// preprocessed text.
void find_columns(token_list& tokens, const source_reader& read);

}  // namespace troupe::cuda_on_host

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <troupe/cuda_on_host/translate/internal/parsing/functions.hpp>
#include <troupe/cuda_on_host/translate/translate.hpp>

namespace troupe::cuda_on_host {

/// Returns the preprocessed source without code that only the application would call: functions, classes and variables
/// that are not for a device and that no device code mentions. If kernels were requested by name, all other kernels are
/// removed too. Removed code becomes blanks. Returns nothing if all of the source is needed.
std::optional<std::string> without_host_code(const token_list& source, const unit& u, const translate_options& options);

}  // namespace troupe::cuda_on_host

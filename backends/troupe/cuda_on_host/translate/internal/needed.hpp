// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <troupe/cuda_on_host/translate/internal/functions.hpp>
#include <troupe/cuda_on_host/translate/translate.hpp>

namespace troupe::cuda_on_host {

/// The preprocessed source without what the application would call: functions, classes and variables that are not for a
/// device and that nothing on a device mentions, and kernels that were not asked for where others were. Blanks stand
/// where they stood. Nothing when all of it is needed.
std::optional<std::string> without_host_code(const token_list& source, const unit& u, const translate_options& options);

}  // namespace troupe::cuda_on_host

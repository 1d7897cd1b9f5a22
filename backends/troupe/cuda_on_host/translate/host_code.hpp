// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::cuda_on_host {

/// A program as people write it, before any preprocessor.
struct written_program {
  std::string_view source;
  std::vector<std::string_view> others;  ///< what else may mention its names: headers, other sources, macros
  std::vector<std::string> names;        ///< of kernels and variables that the application asks for
};

/// The source without its code of the host: functions, classes and variables that are not for a device, and that
/// nothing for a device mentions. Blanks stand where they stood, and preprocessor directives stay. What a macro of the
/// program declares stays. Nothing when all of it is needed, or when a bracket has no partner, as where both branches
/// of an #if open one.
std::optional<std::string> without_host_code(const written_program& program);

}  // namespace troupe::cuda_on_host

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::cuda_on_host {

/// A program as the user wrote it, before preprocessing.
struct written_program {
  std::string_view source;
  std::vector<std::string_view> others;  ///< texts that may mention names of the source: headers, other sources, macros
  std::vector<std::string> names;        ///< kernels and variables that the application uses by name
};

/// Returns the source without its host code: functions, classes and variables that are not for a device and that no
/// device code mentions. They are replaced by blanks. Preprocessor directives are kept, and so are declarations made by
/// macros of the program. Returns nullopt if all of the source is needed, or if a bracket has no partner, as when both
/// branches of an #if open one.
std::optional<std::string> without_host_code(const written_program& program);

}  // namespace troupe::cuda_on_host

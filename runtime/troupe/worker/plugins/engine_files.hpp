// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <string>
#include <troupe/base/error.hpp>
#include <vector>

namespace troupe {

/// The file of an engine, <library>.<backend>.so.
struct engine_file {
  std::string library, backend;
  friend auto operator<=>(const engine_file&, const engine_file&) = default;
};

/// Returns the engines in these folders, sorted, each once.
std::vector<engine_file> engine_files(const std::vector<std::string>& folders);

/// Returns the error of an engine that was not found: where it was searched for, and which engines there are. `library`
/// is empty if the name is unknown, because requests carry only a code of it.
error no_engine(const std::string& library, const std::string& backend, const std::vector<std::string>& folders);

}  // namespace troupe

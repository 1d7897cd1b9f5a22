// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "source.hpp"

/// The result of each source as README.md states it, and whether that holds.
namespace troupe::foreign {

enum class verdict {
  right,
  refused,  ///< with a reason
  wrong,    ///< a wrong result, or an engine that broke
};
struct outcome {
  verdict is = verdict::right;
  std::string text = {};  ///< of the refusal, or of the error
};
/// Formats the result as in README.md: "right", or "refused: `text`".
std::string to_string(const outcome& o);

enum class engine { host, gpu };
/// Maps "family/name" to the expected result.
using table = std::map<std::string, outcome>;
/// One column of the tables in README.md.
table expected_on(engine e);

/// Returns this folder: TROUPE_TEST_FOREIGN on another machine.
std::filesystem::path folder();
std::string text_of(const std::filesystem::path& file);

/// Runs a test for each source: `run` throws `failure`, or returns if it is right, and the outcome must be as README.md
/// states. Prints how many were right, refused and wrong. `engine_name` is for the table.
int judge_all(int argc, char** argv, engine e, const std::function<void(source&)>& run);

}  // namespace troupe::foreign

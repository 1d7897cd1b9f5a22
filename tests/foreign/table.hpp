// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "source.hpp"

/// What README.md says of each source, and whether it is so.
namespace troupe::foreign {

enum class verdict {
  right,
  refused,  ///< with a reason
  wrong,    ///< a wrong result, or an engine that broke
};
struct outcome {
  verdict is = verdict::right;
  std::string text = {};  ///< of the refusal, or of what is wrong
};
/// As README.md has it: "right", or "refused: `text`".
std::string to_string(const outcome& o);

enum class engine { host, gpu };
/// What is expected of "family/name".
using table = std::map<std::string, outcome>;
/// One column of the tables in README.md.
table expected_on(engine e);

/// Where this folder is: TROUPE_TEST_FOREIGN on another machine.
std::filesystem::path folder();
std::string text_of(const std::filesystem::path& file);

/// A test for each source: `run` throws `failure`, or returns when it is right, and what comes of it must be what
/// README.md says. Runs them, and prints how many were right, refused and wrong. `engine_name` is for the table.
int judge_all(int argc, char** argv, engine e, const std::function<void(source&)>& run);

}  // namespace troupe::foreign

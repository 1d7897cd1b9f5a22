// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <troupe/jit/cache/manifest.hpp>
#include <troupe/jit/recipe.hpp>

namespace troupe::jit {

/// What compiles a recipe.
struct compiler {
  std::string path;               ///< to run, where it is a program
  std::string identity;           ///< all that stands for it: part of every key
  std::string version = {};       ///< what it says of itself, in a line
  std::string architecture = {};  ///< what it makes code for, where there is a choice
  std::string note = {};          ///< to the log of what it compiles
};

/// What came of running the compiler.
struct compiled {
  std::optional<error> failed;
  bool gave_up = false;  ///< it failed because the time was over, or it was cancelled: another may have more time
  std::string image;
  std::string log;
  std::string remarks = {};  ///< to the log, about this run alone: not kept with the image
  manifest made_from;        ///< the files it read, and the folders it looked in
  bool lasting = false;      ///< the same would come of it another time: it may be kept
};

/// "NAME: compiling was cancelled".
error was_cancelled(const recipe& r);

/// The time of the recipe is over: "NAME: WHAT 60 s THEN; raise the recipe's timeout …".
error out_of_time(const recipe& r, const std::string& what, const std::string& then = {});

/// The first line that says what is wrong.
std::string first_error(const std::string& log);

/// It may come out different at another time of day.
bool mentions_time(std::string_view text);
bool mentions_time(const recipe& r);

}  // namespace troupe::jit

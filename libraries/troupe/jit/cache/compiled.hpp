// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <troupe/jit/recipe.hpp>
#include <troupe/plan/manifest.hpp>

namespace troupe::jit {

/// The compiler for a recipe.
struct compiler {
  std::string path;               ///< path of the executable; empty if the compiler is a library
  std::string identity;           ///< identifies the compiler exactly: part of every key
  std::string version = {};       ///< the version that the compiler reports, in one line
  std::string architecture = {};  ///< the architecture to generate code for; empty if there is no choice
  std::string note = {};          ///< added to the log of every compilation
};

/// The result of running the compiler.
struct compiled {
  std::optional<error> failed;
  /// True if the compile failed because it timed out or was cancelled: a request with more time may succeed.
  bool was_stopped = false;
  std::string image;
  std::string log;
  /// Text for the log about this run only; not cached with the image.
  std::string remarks = {};
  plan::manifest made_from;  ///< the files that were read, and the folders that were searched for them
  bool lasting = false;      ///< another run would yield the same image, so the result may be cached
};

/// Makes the error "NAME: compiling was cancelled".
error was_cancelled(const recipe& r);

/// Makes the error for a recipe whose time has run out: "NAME: WHAT 60 s THEN; raise the recipe's timeout …".
error out_of_time(const recipe& r, const std::string& what, const std::string& then = {});

/// Returns the first line that reports an error.
std::string first_error(const std::string& log);

/// Returns true if the text mentions a macro such as __TIME__, so that its meaning depends on the time of day.
bool mentions_time(std::string_view text);
bool mentions_time(const recipe& r);

}  // namespace troupe::jit

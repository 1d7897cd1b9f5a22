// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <troupe/jit/host/compiler.hpp>
#include <troupe/jit/host/manifest.hpp>

namespace troupe::jit {

/// Where what belongs to the engine lies.
struct installation {
  std::string keeper;       ///< troupe-keeper
  std::string cuda_folder;  ///< headers that stand for CUDA's
};

/// What came of running the compiler.
struct compiled {
  std::optional<error> failed;
  bool timed_out = false;  ///< it failed because the time was over
  std::string image;
  std::string log;
  manifest made_from;    ///< the files it read, and the folders it looked in
  bool lasting = false;  ///< the same would come of it another time: it may be kept
};

/// The time of the recipe is over: "NAME: WHAT 60 s THEN; raise the recipe's timeout …".
error out_of_time(const recipe& r, const std::string& what, const std::string& then = {});

/// Preprocesses, translates and compiles.
compiled compile(const installation& at, const compiler& with, const recipe& r, std::int64_t deadline_ns);

}  // namespace troupe::jit

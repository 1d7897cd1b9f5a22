// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

/// Properties of the options of C++ compilers.
namespace troupe::jit {

/// Returns true if a recipe may have the option: one that affects only the code, the messages, or where headers and
/// libraries are searched for, and that holds its value in the same word (docs/jit.md has the list). All others are
/// refused, because among the hundreds that compilers have, some write files or load code into the compiler.
bool is_allowed_option(std::string_view option);

/// Returns true if the option may be passed to NVRTC: an option with its long name that affects only the code or the
/// messages, and names no file to read or write.
bool is_allowed_for_nvrtc(std::string_view option);
/// Returns what to do instead of passing an option that NVRTC must not get.
std::string alternative_to(std::string_view option);

/// Returns true if the option certainly makes neither compiler nor linker read files other than those the sources
/// include.
bool reads_no_files(std::string_view option);

}  // namespace troupe::jit

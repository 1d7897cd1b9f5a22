// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

/// Classifies the options of C++ compilers.
namespace troupe::jit {

/// Returns true if a recipe may have the option: it must affect only the code, the messages, or where headers and
/// libraries are searched for, and contain its value in the same word (docs/jit.md has the list). All others are
/// refused, because among the hundreds of options that compilers have, some write files or load code into the compiler.
bool is_allowed_option(std::string_view option);

/// Returns true if the option may be passed to NVRTC: it must have its long name, affect only the code or the messages,
/// and name no file.
bool is_allowed_for_nvrtc(std::string_view option);
/// Returns what to use instead of an option that is not passed to NVRTC.
std::string alternative_to(std::string_view option);

/// Returns true if the option certainly makes neither compiler nor linker read other files than those that the sources
/// include.
bool reads_no_files(std::string_view option);

}  // namespace troupe::jit

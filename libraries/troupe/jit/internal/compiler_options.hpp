// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

/// What is known of the options that compilers of C++ take.
namespace troupe::jit {

/// It changes what is written or to where, ends the compiler early, has it run other programs, or would take the
/// argument that follows for its own.
bool is_for_us_to_give(std::string_view option);

/// NVRTC may be given it: by its long name, it changes the code or the messages alone, and has no file read or written.
bool is_nvrtcs(std::string_view option);
/// What to do where it is not.
std::string instead_of(std::string_view option);

/// It certainly has compiler and linker read nothing beside what the sources include.
bool reads_no_files(std::string_view option);

}  // namespace troupe::jit

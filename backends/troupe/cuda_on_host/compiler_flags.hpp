// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace troupe::cuda_on_host {

/// Settings for the system's compiler (g++ 12 and later, clang++ 14 and later). The defaults are NVRTC's.
struct compiler_settings {
  std::string cuda_folder;               ///< folder of our cuda/ headers: libexec/troupe/cuda
  int standard = 20;                     ///< C++ standard: 17, 20 or 23
  bool fast_math = false;                ///< --use_fast_math
  bool fuse_multiply_add = true;         ///< --fmad
  int optimisation = 3;                  ///< level N of -ON
  bool debug_information = false;        ///< -g
  std::vector<std::string> definitions;  ///< each "NAME" or "NAME=value"
  std::vector<std::string> include_folders;
};

/// Returns the arguments, without the compiler's path, that preprocess `source` to standard output.
std::vector<std::string> preprocessor_arguments(const compiler_settings& settings, const std::string& source);

/// Returns the arguments that compile the translated text in the file `source` (named *.ii) to the host image `output`.
std::vector<std::string> compiler_arguments(const compiler_settings& settings, const std::string& source,
                                            const std::string& output);

/// The version of these arguments and of the translator: part of every key in caches of compiled images. Increment it
/// with each change to either.
inline constexpr std::uint32_t compiler_interface_version = 1;

}  // namespace troupe::cuda_on_host

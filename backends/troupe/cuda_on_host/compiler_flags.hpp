// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace troupe::cuda_on_host {

/// How the system's compiler (g++ 12 and later, clang++ 14 and later) is to be called. Defaults are NVRTC's.
struct compiler_settings {
  std::string cuda_folder;               ///< where our cuda/ headers are: libexec/troupe/cuda
  int standard = 20;                     ///< of C++: 17, 20, 23
  bool fast_math = false;                ///< --use_fast_math
  bool fuse_multiply_add = true;         ///< --fmad
  int optimisation = 3;                  ///< -O
  bool debug_information = false;        ///< -g
  std::vector<std::string> definitions;  ///< each "NAME" or "NAME=value"
  std::vector<std::string> include_folders;
};

/// Arguments that preprocess `source` to the standard output; follow the compiler's path.
std::vector<std::string> preprocessor_arguments(const compiler_settings& settings, const std::string& source);

/// Arguments that compile the translated text in `source` (named *.ii) to the host image `output`.
std::vector<std::string> compiler_arguments(const compiler_settings& settings, const std::string& source,
                                            const std::string& output);

/// What both depend on, and the translator: part of the key of every cache of compiled images. Grows with each change.
inline constexpr std::uint32_t compiler_interface_version = 1;

}  // namespace troupe::cuda_on_host

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::testing {

/// CUDA C++ or PTX in a string of a C++ file.
struct kernel_text {
  std::uint32_t line;
  std::string text;
  bool whole;  ///< false if it is joined with others by +
};

/// Returns the value of a string literal in C++ notation.
std::string value_of(std::string_view literal);
/// Returns the strings that contain this text, with adjacent literals joined as compilers do.
std::vector<kernel_text> kernel_texts_of(std::string_view source, std::string_view with = "__global__");

std::string text_of(const std::filesystem::path& file);

}  // namespace troupe::testing

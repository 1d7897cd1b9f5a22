// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <troupe/cuda_on_host/translate/internal/functions.hpp>
#include <troupe/cuda_on_host/translate/token.hpp>
#include <unordered_set>
#include <vector>

namespace troupe::cuda_on_host {

/// Of a function. Tokens [begin, end).
struct kernel_parameter {
  std::string_view name;  ///< empty when it has none
  std::size_t begin = 0, end = 0;
  std::size_t name_at = 0;
  bool is_pack = false;
  bool is_number = false;   ///< int, float and their like
  bool is_pointer = false;  ///< T*
  bool to_numbers = false;  ///< which points to numbers
};
std::vector<kernel_parameter> read_parameters(const token_list& source, const unit& u, std::size_t open);

/// Of the template that a function is.
struct template_parameters {
  std::unordered_set<std::string_view> numbers;  ///< values: template <int N>
  std::unordered_set<std::string_view> types;    ///< template <class T>
  std::unordered_set<std::string_view> others;
};
template_parameters read_template_parameters(const token_list& source, const unit& u, const definition& function);

}  // namespace troupe::cuda_on_host

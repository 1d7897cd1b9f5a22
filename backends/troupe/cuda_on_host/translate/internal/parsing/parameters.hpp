// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <troupe/cuda_on_host/translate/internal/parsing/functions.hpp>
#include <troupe/cuda_on_host/translate/token.hpp>
#include <unordered_set>
#include <vector>

namespace troupe::cuda_on_host {

/// A parameter of a function: tokens [begin, end).
struct kernel_parameter {
  std::string_view name;  ///< empty if the parameter has no name
  std::size_t begin = 0, end = 0;
  std::size_t name_at = 0;
  bool is_pack = false;
  bool is_number = false;   ///< int, float and the like
  bool is_pointer = false;  ///< T*
  bool to_numbers = false;  ///< a pointer to numbers
};
std::vector<kernel_parameter> read_parameters(const token_list& source, const unit& u, std::size_t open);

/// The parameters of a function's template.
struct template_parameters {
  std::unordered_set<std::string_view> numbers;  ///< values, as in template <int N>
  std::unordered_set<std::string_view> types;    ///< types, as in template <class T>
  std::unordered_set<std::string_view> others;
};
template_parameters read_template_parameters(const token_list& source, const unit& u, const definition& function);

/// Returns the first argument of __launch_bounds__ as an expression.
std::string launch_bounds(const token_list& source, const definition& d);

}  // namespace troupe::cuda_on_host

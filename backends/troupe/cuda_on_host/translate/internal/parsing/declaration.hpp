// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <troupe/cuda_on_host/translate/token.hpp>
#include <vector>

namespace troupe::cuda_on_host {

/// One variable of a declaration. Positions are indices of tokens; an end is the index after the last token.
struct declarator {
  std::string_view name;
  std::size_t name_at = 0;
  std::size_t begin = 0, end = 0;  ///< the declarator without its initializer
  /// what follows =, or the brackets with their content; empty if there is none
  std::size_t initialiser = 0, initialiser_end = 0;
  bool is_assigned = false;  ///< the initializer follows =
  bool is_array = false, is_pointer = false, is_reference = false;
  std::size_t dimensions = 0;  ///< number of dimensions of an array
};

/// A declaration such as `const float x = 1, *p = q;`.
struct variable_declaration {
  std::size_t type = 0, type_end = 0;  ///< the specifiers before the declarators
  bool is_auto = false, is_const = false;
  bool is_number = false;    ///< built from int, float and the like
  bool is_vector = false;    ///< float4 or a similar type
  std::size_t named_at = 0;  ///< position of the word that names the type
  std::vector<declarator> declarators;
};

/// The kind of a statement that is not inside a statement without a barrier.
enum class statement_kind : std::uint8_t {
  variables,  ///< declares variables of each thread
  shared,     ///< declares __shared__ variables, without extern
  /// Has the same effect for all threads: using, typedef, static_assert, constexpr, extern __shared__, a class, or
  /// nothing.
  block_wide,
  expression,
  unknown,  ///< may be a declaration that is not understood
};

struct classified_statement {
  statement_kind kind = statement_kind::unknown;
  variable_declaration variables;  ///< set if `kind` is variables or shared
};

/// Classifies a statement without inner statements, tokens [begin, end), including its semicolon.
classified_statement classify(const token_list& source, std::size_t begin, std::size_t end);

}  // namespace troupe::cuda_on_host

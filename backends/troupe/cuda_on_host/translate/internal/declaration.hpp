// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <troupe/cuda_on_host/translate/token.hpp>
#include <vector>

namespace troupe::cuda_on_host {

/// One variable of a declaration. Positions are indices of tokens; ends lie behind.
struct declarator {
  std::string_view name;
  std::size_t name_at = 0;
  std::size_t begin = 0, end = 0;                    ///< without the initialiser
  std::size_t initialiser = 0, initialiser_end = 0;  ///< behind =, or with the brackets; equal when there is none
  bool is_assigned = false;                          ///< the initialiser stands behind =
  bool is_array = false, is_pointer = false, is_reference = false;
  std::size_t dimensions = 0;  ///< of an array
};

/// `const float x = 1, *p = q;`
struct variable_declaration {
  std::size_t type = 0, type_end = 0;  ///< the specifiers in front of the declarators
  bool is_auto = false, is_const = false;
  bool is_number = false;    ///< built of int, float and their like
  bool is_vector = false;    ///< float4 and its like
  std::size_t named_at = 0;  ///< the word that is the type's name
  std::vector<declarator> declarators;
};

/// What a statement is, at the level of barriers.
enum class statement_kind : std::uint8_t {
  variables,   ///< declares variables of a thread
  shared,      ///< __shared__, without extern
  block_wide,  ///< using, typedef, static_assert, constexpr, extern __shared__, a class, nothing: the same for all
               ///< threads
  expression,
  unknown,  ///< may declare something that is not understood
};

struct classified_statement {
  statement_kind kind = statement_kind::unknown;
  variable_declaration variables;  ///< of variables and shared
};

/// Takes the plain statement of tokens [begin, end), semicolon included, apart.
classified_statement classify(const token_list& source, std::size_t begin, std::size_t end);

}  // namespace troupe::cuda_on_host

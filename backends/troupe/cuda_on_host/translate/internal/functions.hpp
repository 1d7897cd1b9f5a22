// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <troupe/cuda_on_host/translate/token.hpp>
#include <unordered_set>
#include <vector>

namespace troupe::cuda_on_host {

/// A function, or a variable with an initialiser, at namespace or class scope. All positions are indices of tokens.
struct definition {
  std::string scope;      ///< "ns::" or "ns::type::"
  std::string_view name;  ///< empty if it cannot be called by a name: operators, constructors, destructors
  std::uint32_t line = 0;
  std::size_t begin = 0;  ///< of the declaration, with its template header
  std::size_t name_at = 0;
  std::size_t parameters = 0;  ///< the ( ; 0 for variables
  std::size_t body = 0;        ///< the { of a function or the = of a variable; the ; if there is neither
  std::size_t end = 0;         ///< after the last token
  bool has_body = false;
  bool in_class = false;
  bool is_template = false;
  bool is_specialisation = false;  ///< template <>, or template without <
  bool is_kernel = false;

  bool is_function() const noexcept { return parameters != 0; }
  std::string qualified() const { return scope + std::string(name); }
};

/// A whole declaration at namespace scope: a function, a class with its members and declarators, or a variable.
struct outer_declaration {
  std::size_t begin = 0, end = 0;
  std::size_t words_end = 0;  ///< after the words that say where code runs: where a function's body begins, else `end`
  std::vector<std::string_view> names;  ///< the declared names; for a member defined outside of its class, the class
  bool is_kernel = false;
  bool is_device = false;  ///< true if the declaration or a member is marked __device__ or the like
};

struct dynamic_array {
  std::string_view name;  ///< of an extern __shared__ at namespace scope
  std::size_t begin, end;
};

/// Everything that the user's source declares.
struct unit {
  std::vector<definition> definitions;
  /// Declarations in the order of the text, except those without an understood name.
  std::vector<outer_declaration> outer;
  std::unordered_set<std::string_view> constants;    ///< constant variables that are numbers, and enumerators
  std::unordered_set<std::string_view> enumerators;  ///< the enumerators among `constants`
  std::unordered_set<std::string_view> others;       ///< names at namespace or class scope that are not constants
  std::unordered_set<std::string_view> in_constant_memory;  ///< __constant__ variables
  std::vector<dynamic_array> dynamic_arrays;
  std::unordered_set<std::string_view> classes;
  std::unordered_set<std::string_view> functions;  ///< the names of all functions
  /// The names of those whose parameters are, or may be, references.
  std::unordered_set<std::string_view> takes_references;
  std::unordered_set<std::string_view> names;  ///< of all functions, variables, classes and aliases
  bool has_operators = false;                  ///< operators such as + may do anything if an operand is not a number
  /// `using` of a namespace that is not the user's: a name may refer to anything
  bool uses_foreign_namespace = false;
  /// True if the uses of variables cannot be analysed: an operator or constructor binds references to numbers, or
  /// operators are spelt as words.
  bool has_hidden_uses = false;

  /// Returns true if a name that no function declares can only mean a number that never changes.
  bool is_constant(std::string_view name) const {
    return constants.contains(name) && !others.contains(name) && !(has_operators && enumerators.contains(name));
  }
};

/// Returns true for __device__, __constant__ and the like.
bool is_device_word(std::string_view word) noexcept;

/// Finds the declarations of a source. Skips what it does not understand.
unit find_definitions(const token_list& source);

/// Returns the function whose declaration or body contains a token, or null.
const definition* function_at(const unit& u, std::size_t token) noexcept;

/// Returns the last token of a declarator's name in [begin, end), which precedes any initialiser, array bound or
/// parameter list. Returns `end` if there is none.
std::size_t declared_name(const token_list& source, std::size_t begin, std::size_t end);

}  // namespace troupe::cuda_on_host

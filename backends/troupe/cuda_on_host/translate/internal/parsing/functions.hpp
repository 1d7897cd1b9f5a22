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

/// A function, or a variable with an initializer, at namespace or class scope. All positions are indices of tokens.
struct definition {
  std::string scope;      ///< "ns::" or "ns::type::"
  std::string_view name;  ///< empty if no call names it: operators, constructors, destructors
  std::uint32_t line = 0;
  std::size_t begin = 0;  ///< of the declaration, including its template header
  std::size_t name_at = 0;
  std::size_t parameters = 0;  ///< the opening parenthesis of the parameter list; 0 for variables
  std::size_t body = 0;        ///< the { of a function, the = of a variable, or the ; if there is neither
  std::size_t end = 0;         ///< the position after the last token
  bool has_body = false;
  bool in_class = false;
  bool is_template = false;
  bool is_specialisation = false;  ///< declared with template <>, or with template and no <
  bool is_kernel = false;

  bool is_function() const noexcept { return parameters != 0; }
  std::string qualified() const { return scope + std::string(name); }
};

/// A whole declaration at namespace scope: a function, a class with its members and declarators, or a variable.
struct outer_declaration {
  std::size_t begin = 0, end = 0;
  /// the end of the words that may say where the code runs: the beginning of a function's body, or `end`
  std::size_t words_end = 0;
  std::vector<std::string_view> names;  ///< the declared names; for a member defined outside of its class, the class
  bool is_kernel = false;
  bool is_device = false;  ///< true if the declaration or a member is marked __device__ or the like
};

struct dynamic_array {
  std::string_view name;  ///< name of an extern __shared__ array that is declared at namespace scope
  std::size_t begin, end;
};

/// Everything that the user's source declares.
struct unit {
  std::vector<definition> definitions;
  /// Declarations in the order of the text, except declarations whose names are not understood.
  std::vector<outer_declaration> outer;
  /// names of enumerators, and of variables that are constant numbers
  std::unordered_set<std::string_view> constants;
  std::unordered_set<std::string_view> enumerators;  ///< the enumerators among `constants`
  std::unordered_set<std::string_view> others;       ///< names at namespace or class scope that are not constants
  std::unordered_set<std::string_view> in_constant_memory;  ///< __constant__ variables
  std::vector<dynamic_array> dynamic_arrays;
  std::unordered_set<std::string_view> classes;
  std::unordered_set<std::string_view> functions;  ///< the names of all functions
  /// The names of functions whose parameters are, or may be, references.
  std::unordered_set<std::string_view> takes_references;
  std::unordered_set<std::string_view> names;  ///< the names of all functions, variables, classes and aliases
  /// the source defines operators such as +, which may do anything if an operand is not a number
  bool has_operators = false;
  /// The source uses a namespace that is not the user's, so a name may refer to anything.
  bool uses_foreign_namespace = false;
  /// True if the uses of variables cannot be analyzed: an operator or constructor binds references to numbers, or
  /// operators are spelled as words.
  bool has_hidden_uses = false;

  /// Returns true if the name can only mean a number that never changes. Precondition: no function declares it.
  bool is_constant(std::string_view name) const {
    return constants.contains(name) && !others.contains(name) && !(has_operators && enumerators.contains(name));
  }
};

/// Returns true for __device__, __constant__ and the like.
bool is_device_word(std::string_view word) noexcept;

/// Finds the declarations of a source. Skips text that it does not understand.
unit find_definitions(const token_list& source);

/// Returns the function whose declaration or body contains a token, or null.
const definition* function_at(const unit& u, std::size_t token) noexcept;

/// Returns the last token of a declarator's name in [begin, end), which precedes any initializer, array bound or
/// parameter list. Returns `end` if there is none.
std::size_t declared_name(const token_list& source, std::size_t begin, std::size_t end);

}  // namespace troupe::cuda_on_host

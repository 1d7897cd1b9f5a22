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

/// A function, or a variable with an initialiser, at the level of namespaces and classes. All positions are indices of
/// tokens.
struct definition {
  std::string scope;      ///< "ns::" or "ns::type::"
  std::string_view name;  ///< empty where it has none to be called by: operators, constructors, destructors
  std::uint32_t line = 0;
  std::size_t begin = 0;  ///< of the declaration, with its template header
  std::size_t name_at = 0;
  std::size_t parameters = 0;  ///< the ( ; 0 for variables
  std::size_t body = 0;        ///< the { or, for a variable, the =; where there is none the ;
  std::size_t end = 0;         ///< behind the last token
  bool has_body = false;
  bool in_class = false;
  bool is_template = false;
  bool is_specialisation = false;  ///< template <> or template without <
  bool is_kernel = false;

  bool is_function() const noexcept { return parameters != 0; }
  std::string qualified() const { return scope + std::string(name); }
};

/// A declaration at namespace scope as a whole: a function, a class with all that is in it and behind it, a variable.
struct outer_declaration {
  std::size_t begin = 0, end = 0;
  std::size_t words_end = 0;  ///< behind what says for whom it is: where a function's body begins, else `end`
  std::vector<std::string_view>
      names;  ///< what it declares; of a member that is defined outside of its class, the class
  bool is_kernel = false;
  bool is_device = false;  ///< it, or a member of it, says __device__ or its like
};

struct dynamic_array {
  std::string_view name;  ///< of an extern __shared__ at namespace scope
  std::size_t begin, end;
};

/// What the user's source declares.
struct unit {
  std::vector<definition> definitions;
  std::vector<outer_declaration>
      outer;  ///< in the order of the text; those whose names are not understood are left out
  std::unordered_set<std::string_view> constants;    ///< const variables that are numbers, and enumerators
  std::unordered_set<std::string_view> enumerators;  ///< those among them
  std::unordered_set<std::string_view> others;       ///< names at namespace or class scope that are none of these
  std::unordered_set<std::string_view> in_constant_memory;  ///< __constant__ variables
  std::vector<dynamic_array> dynamic_arrays;
  std::unordered_set<std::string_view> classes;
  std::unordered_set<std::string_view> functions;         ///< the names of all
  std::unordered_set<std::string_view> takes_references;  ///< of those whose parameters are, or may be, references
  std::unordered_set<std::string_view> names;             ///< of all functions, variables, classes and aliases
  bool has_operators = false;  ///< so + and its like may do anything, where something else than a number takes part
  bool brings_names = false;   ///< `using` of a namespace that is not the user's: a name may be anybody's
  bool is_odd = false;         ///< an operator or constructor binds references to numbers, or alternative spellings of
                               ///< operators: what happens to variables is not to be seen

  /// Whether a name that no function declares can mean nothing but a number that never changes.
  bool is_constant(std::string_view name) const {
    return constants.contains(name) && !others.contains(name) && !(has_operators && enumerators.contains(name));
  }
};

/// __device__, __constant__ and their like.
bool is_device_word(std::string_view word) noexcept;

/// Finds them. What it does not understand it passes over.
unit find_definitions(const token_list& source);

/// The function whose declaration or body a token lies in; null when there is none.
const definition* function_at(const unit& u, std::size_t token) noexcept;

/// The last token of a declarator's name in [begin, end): before any initialiser, array bound or parameter list. `end`
/// when there is none.
std::size_t declared_name(const token_list& source, std::size_t begin, std::size_t end);

}  // namespace troupe::cuda_on_host

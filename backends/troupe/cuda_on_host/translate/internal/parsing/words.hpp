// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <troupe/cuda_on_host/translate/token.hpp>

namespace troupe::cuda_on_host {

/// Returns true for int, float, size_t ...: types with built-in operators.
bool is_number_word(std::string_view word) noexcept;
/// Returns true for words that can be combined to name one type: unsigned long long.
bool is_built_of_words(std::string_view word) noexcept;
/// Returns true for int2 ... double4 and dim3: structs of numbers.
bool is_vector_word(std::string_view word) noexcept;
/// Returns true for if, while, for, switch, which have a parenthesis and a statement after it.
bool is_control_word(std::string_view word) noexcept;
/// Returns true for sizeof and the like, whose operands are not evaluated.
bool is_unevaluated_word(std::string_view word) noexcept;
/// Returns true for return, else, case ...: words that may precede an expression.
bool is_word_before_expression(std::string_view word) noexcept;

/// Returns true if the word at `i` is a specifier of a declaration that also has the specifier `word`: `static` in
/// `static __shared__ float x[4];` has `__shared__`.
bool is_specifier_beside(const token_list& source, std::size_t i, std::string_view word) noexcept;

/// Returns true for =, += and the like.
bool is_assignment(const token& t) noexcept;
/// Returns true for ++ and --.
bool is_step(const token& t) noexcept;
/// Returns true if the identifier at `i` names a member: after . -> or ::
bool is_member(const token_list& source, std::size_t i) noexcept;

}  // namespace troupe::cuda_on_host

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <troupe/cuda_on_host/translate/token.hpp>

namespace troupe::cuda_on_host {

/// int, float, size_t ...: types whose operators are the language's own.
bool is_number_word(std::string_view word) noexcept;
/// Those of which several make one type: unsigned long long.
bool is_built_of_words(std::string_view word) noexcept;
/// int2 ... double4 and dim3: structs of numbers.
bool is_vector_word(std::string_view word) noexcept;
/// if, while, for, switch: with a condition or header in parentheses, and a statement behind them.
bool is_control_word(std::string_view word) noexcept;
/// sizeof and its like: what stands in their parentheses is not evaluated.
bool is_unevaluated_word(std::string_view word) noexcept;
/// return, else, case ...: words that can stand in front of an expression.
bool is_word_before_expression(std::string_view word) noexcept;

/// Whether the word at `i` is one of the specifiers of a declaration that has `word` among them: `static` in
/// `static __shared__ float x[4];`.
bool is_specifier_beside(const token_list& source, std::size_t i, std::string_view word) noexcept;

/// =, += and its like.
bool is_assignment(const token& t) noexcept;
/// ++ and --.
bool is_step(const token& t) noexcept;
/// Whether the identifier at `i` is the name of a member: behind . -> or ::
bool is_member(const token_list& source, std::size_t i) noexcept;

}  // namespace troupe::cuda_on_host

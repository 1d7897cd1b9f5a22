// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <troupe/cuda_on_host/translate/internal/parsing/words.hpp>
#include <troupe/cuda_on_host/translate/token.hpp>

/// Finds the meaning of single tokens in an expression.
namespace troupe::cuda_on_host {

// Returns true for functions of the prelude that indices are computed with and whose value depends only on their
// arguments.
inline bool is_pure_function(std::string_view name) {
  return name == "min" || name == "max" || name == "abs" || name == "__mul24" || name == "__umul24";
}
inline bool is_index(const token& t) { return t.is("blockIdx") || t.is("blockDim") || t.is("gridDim"); }
inline bool ends_operand(const token& t) {
  return t.kind == token_kind::number || t.kind == token_kind::literal || t.is(")") ||
         (t.is_identifier() && !is_word_before_expression(t.text));
}
// Returns true for a nonzero literal.
inline bool is_nonzero(const token& t) {
  if (t.kind != token_kind::number) return false;
  std::string_view digits = t.text.substr(0, t.text.find_first_of("eEpPuUlLfF"));
  if (t.text.starts_with("0x") || t.text.starts_with("0X") || t.text.starts_with("0b") || t.text.starts_with("0B"))
    return false;
  return digits.find_first_of("123456789") != std::string_view::npos;
}

}  // namespace troupe::cuda_on_host

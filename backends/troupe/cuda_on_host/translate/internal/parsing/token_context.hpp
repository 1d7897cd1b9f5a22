// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <troupe/cuda_on_host/translate/internal/parsing/functions.hpp>
#include <troupe/cuda_on_host/translate/internal/parsing/words.hpp>
#include <troupe/cuda_on_host/translate/token.hpp>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace troupe::cuda_on_host {

inline bool is_statement_end(const token& t) noexcept {
  return t.is(";") || t.is("{") || t.is("}") || t.kind == token_kind::pragma || t.is("else") || t.is("do");
}

/// Finds the meaning of the tokens around a name, if it is certain: brackets, casts, calls and declarations. The base
/// class of the search for uses of names (usage.cpp).
class token_context {
 protected:
  static constexpr std::size_t longest_angles = 128;  // tokens that are searched backwards for the < of f<...>(x)
  static constexpr std::size_t longest_reference = 256;

  token_context(const token_list& source, const unit& u, std::size_t begin, std::size_t end,
                const std::unordered_set<std::string_view>& casts)
      : s_(source), u_(u), begin_(begin), end_(end), casts_(casts) {}

  // Returns true if there is only a type between the beginning of the statement and token `i`.
  bool declares(std::size_t i) const;
  // Returns true if the statement around token `i` may declare a variable that holds a reference: its type is a name,
  // as in T r = x, which may be a reference or a class.
  bool may_bind(std::size_t i) const;
  // Returns true if the parenthesis is certainly part of an expression, and not a type in a cast.
  bool is_value(std::size_t open, std::size_t close, int deeper = 16) const;
  bool is_control(std::size_t paren) const noexcept {
    return s_[paren].is("(") &&
           (is_control_word(s_[paren - 1].text) || (s_[paren - 1].is("constexpr") && s_[paren - 2].is("if")));
  }
  bool is_call(std::size_t paren) const noexcept {
    const token& t = s_[paren - 1];
    if (!s_[paren].is("(") || is_control(paren)) return false;
    return (t.is_identifier() && !is_word_before_expression(t.text)) || t.is(">") || t.is(")") || t.is("]") ||
           t.is("}");
  }
  bool is_grouping(std::size_t paren) const noexcept {
    return s_[paren].is("(") && !is_call(paren) && !is_control(paren);
  }
  bool is_number_cast(std::size_t open, std::size_t close) const;
  bool is_number(std::string_view word) const { return is_number_word(word) && !u_.names.contains(word); }
  // Returns true if token `i` names the type of a number or vector.
  bool is_plain(std::size_t i) const;
  // Returns true if the brace opens a block of statements, false if it holds initial values.
  bool is_block(std::size_t level) const;
  // Returns true if the braces make a number, a vector, or an array of these: T x[2] = {a, b}, float4{a, b, c, d}.
  bool braces_take_values(std::size_t level) const;
  // Returns true if the call can neither change nor keep what its parentheses contain: it is a cast to a number, a
  // function of the user without reference parameters, or a function that is not the user's.
  bool takes_values(std::size_t paren) const;
  bool is_foreign(std::string_view function) const;
  // Returns true if the parenthesis belongs to a call that is a whole statement, of a C library function that writes
  // through its arguments and does not keep them.
  bool drops_addresses(std::size_t paren) const;

  const token_list& s_;
  const unit& u_;
  const std::size_t begin_, end_;
  const std::unordered_set<std::string_view>& casts_;
  std::unordered_set<std::string_view> variables_;      // names that occur without a parenthesis after them
  std::unordered_map<std::string_view, bool> lambdas_;  // lambdas of this function; true if all parameters are values
  std::vector<std::size_t> open_;
};

}  // namespace troupe::cuda_on_host

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::cuda_on_host {

enum class token_kind : std::uint8_t { identifier, number, literal, punctuator, pragma, end };

/// A token of the user's own source. `text` refers into the source.
struct token {
  token_kind kind = token_kind::end;
  std::uint32_t line = 0;    ///< line in the user's file
  std::uint32_t file = 0;    ///< index into token_list::files
  std::uint32_t column = 0;  ///< column in that line, from 1; 0 if a macro has produced the token
  std::string_view text;

  bool is(std::string_view s) const noexcept { return kind != token_kind::literal && text == s; }
  bool is_identifier() const noexcept { return kind == token_kind::identifier; }
};

/// The tokens of a C++ text, without the text of system headers if the text is preprocessed. The last token is of kind
/// `end`.
struct token_list {
  std::string_view source;
  std::vector<token> tokens;
  std::vector<std::string> files;            ///< names as spelled in line markers: escaped, without quotes
  std::vector<std::string_view> directives;  ///< the directives of a text that is not preprocessed, except #pragma

  std::size_t size() const noexcept { return tokens.size() - 1; }
  const token& operator[](std::size_t i) const noexcept { return tokens[i < tokens.size() ? i : tokens.size() - 1]; }
  std::size_t offset(std::size_t i) const noexcept {
    return static_cast<std::size_t>((*this)[i].text.data() - source.data());
  }
  /// Returns the index of the token that closes the bracket at `open`, one of ( [ {, or size() if none closes it.
  std::size_t closing(std::size_t open) const noexcept { return open < partner.size() ? partner[open] : size(); }
  /// Returns the index of the token after the > that closes the < at `open`, or `open` if that < does not seem to be a
  /// bracket.
  std::size_t after_angles(std::size_t open, std::size_t limit) const noexcept;

  std::vector<std::uint32_t> partner;  ///< for each bracket, its matching bracket; size() for all other tokens

  /// The first bracket without a partner, and the message about it.
  struct unmatched_bracket {
    std::size_t at;
    std::string text;
  };
  std::optional<unmatched_bracket> unmatched;
};

/// Splits a text into tokens. Files in `own_folder`, if it is not empty, count as system headers.
token_list tokenize(std::string_view preprocessed, std::string_view own_folder = {});

}  // namespace troupe::cuda_on_host

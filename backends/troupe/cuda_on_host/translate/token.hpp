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

/// A token of the user's own source. `text` lies in the source.
struct token {
  token_kind kind = token_kind::end;
  std::uint32_t line = 0;    ///< in the file the user wrote
  std::uint32_t file = 0;    ///< index into token_list::files
  std::uint32_t column = 0;  ///< there, from 1 on; 0 where a macro has written it
  std::string_view text;

  bool is(std::string_view s) const noexcept { return kind != token_kind::literal && text == s; }
  bool is_identifier() const noexcept { return kind == token_kind::identifier; }
};

/// The tokens of C++, without those of system headers if it is preprocessed. Ends with a token of kind `end`.
struct token_list {
  std::string_view source;
  std::vector<token> tokens;
  std::vector<std::string> files;            ///< as line markers spell them: escaped, without the quotes
  std::vector<std::string_view> directives;  ///< all others, of a text that was not preprocessed

  std::size_t size() const noexcept { return tokens.size() - 1; }
  const token& operator[](std::size_t i) const noexcept { return tokens[i < tokens.size() ? i : tokens.size() - 1]; }
  std::size_t offset(std::size_t i) const noexcept {
    return static_cast<std::size_t>((*this)[i].text.data() - source.data());
  }
  /// Index of the token that closes the bracket at `open`, one of ( [ {; size() when nothing does.
  std::size_t closing(std::size_t open) const noexcept { return open < partner.size() ? partner[open] : size(); }
  /// Index of the token after the > that closes the < at `open`; `open` when it is no bracket, as far as can be seen.
  std::size_t after_angles(std::size_t open, std::size_t limit) const noexcept;

  std::vector<std::uint32_t> partner;  ///< of each bracket the other one; size() for all others

  /// The first bracket without a partner, and what is to be said of it.
  struct lone_bracket {
    std::size_t at;
    std::string text;
  };
  std::optional<lone_bracket> alone;
};

/// Files in `own_folder`, if there is one, are ours, and count as system headers.
token_list tokenize(std::string_view preprocessed, std::string_view own_folder = {});

}  // namespace troupe::cuda_on_host

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <troupe/cuda_on_host/translate/token.hpp>
#include <vector>

namespace troupe::cuda_on_host {

/// A source in which tokens have been replaced. The text between tokens is unchanged. Each remaining token is in the
/// line and column where the user wrote it, so that the positions in the compiler's messages are right: after inserted
/// text, a line marker starts the same line again.
class edited_source {
 public:
  explicit edited_source(const token_list& source) : source_(source), which_(source.tokens.size(), 0) {}

  const token_list& tokens() const noexcept { return source_; }
  void replace(std::size_t token, std::string text);
  void erase(std::size_t begin, std::size_t end);  ///< erases tokens [begin, end)
  void add_before(std::size_t token, const std::string& text);
  void add_behind(std::size_t token, const std::string& text);

  /// Returns the text of tokens [begin, end).
  std::string slice(std::size_t begin, std::size_t end) const;
  /// Returns the whole text, including what precedes the first token and follows the last.
  std::string all() const;
  /// Returns a line marker that gives the token's origin, with line ends around it. The token must follow it.
  std::string marker(std::size_t token) const;

 private:
  struct edit {
    std::string before, text, behind;
    bool replaced = false;  // `text` replaces the token; otherwise the token stays between `before` and `behind`
  };
  class writer;

  edit& edit_of(std::size_t token);

  const token_list& source_;
  std::vector<std::uint32_t> which_;  // for each token: 0, or 1 + an index into edits_
  std::vector<edit> edits_;
  edit discarded_;
};

}  // namespace troupe::cuda_on_host

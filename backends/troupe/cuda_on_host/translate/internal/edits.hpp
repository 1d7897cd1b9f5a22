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

/// A source in which tokens have been replaced. What lies between tokens stays as it is, and each token stands in the
/// line and column where the user wrote it, so that the compiler's messages say so: behind text that is new a line
/// marker begins the same line again.
class edited_source {
 public:
  explicit edited_source(const token_list& source) : source_(source), which_(source.tokens.size(), 0) {}

  const token_list& tokens() const noexcept { return source_; }
  void replace(std::size_t token, std::string text);
  void erase(std::size_t begin, std::size_t end);  ///< tokens [begin, end)
  void add_before(std::size_t token, const std::string& text);
  void add_behind(std::size_t token, const std::string& text);

  /// The text from token `begin` to the one before `end`.
  std::string slice(std::size_t begin, std::size_t end) const;
  /// All of it, with what is before the first token and behind the last.
  std::string all() const;
  /// What says where the token comes from, on lines of its own; the token is to follow.
  std::string marker(std::size_t token) const;

 private:
  struct edit {
    std::string before, text, behind;
    bool replaced = false;  // else the token stays between the two
  };
  class writer;

  edit& edit_of(std::size_t token);

  const token_list& source_;
  std::vector<std::uint32_t> which_;  // 0, or 1 + an index into edits_
  std::vector<edit> edits_;
  edit nowhere_;
};

}  // namespace troupe::cuda_on_host

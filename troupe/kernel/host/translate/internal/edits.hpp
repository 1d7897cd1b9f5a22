// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <troupe/kernel/host/translate/internal/token.hpp>
#include <vector>

namespace troupe::kernel {

/// A source in which tokens have been replaced. What lies between tokens stays as it is.
class edited_source {
 public:
  explicit edited_source(const token_list& source) : source_(source), which_(source.tokens.size(), 0) {}

  const token_list& tokens() const noexcept { return source_; }
  void replace(std::size_t token, std::string text);
  void erase(std::size_t begin, std::size_t end);  ///< tokens [begin, end)
  void add_before(std::size_t token, const std::string& text) { replace(token, text + now(token)); }
  void add_behind(std::size_t token, const std::string& text) { replace(token, now(token) + text); }
  std::string now(std::size_t token) const;

  /// The text from token `begin` to the one before `end`.
  std::string slice(std::size_t begin, std::size_t end) const;
  /// All of it, with what is before the first token and behind the last.
  std::string all() const;
  /// A line marker, on lines of its own, that says where the token comes from.
  std::string marker(std::size_t token) const;

 private:
  void append(std::string& out, std::size_t from, std::size_t to, std::size_t begin, std::size_t end) const;

  const token_list& source_;
  std::vector<std::uint32_t> which_;  // 0, or 1 + an index into texts_
  std::vector<std::string> texts_;
};

}  // namespace troupe::kernel

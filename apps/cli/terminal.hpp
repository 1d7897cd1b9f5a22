// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace troupe::apps {

/// Decides what may be written to a stream: colours, symbols and lines that are redrawn are for a person at a terminal.
/// All other output (a pipe, a file, TERM=dumb) is plain ASCII, and so is output with NO_COLOR set.
class terminal {
 public:
  struct abilities {
    bool live = false;  ///< lines may be redrawn
    bool colour = false;
    bool symbols = false;  ///< beyond ASCII
    int columns = 100;
  };

  terminal() noexcept = default;  // a plain one
  explicit terminal(abilities can) noexcept : can_(can) {}
  /// Returns what the stream and the environment allow.
  static terminal of(std::FILE* stream) noexcept;

  const abilities& can() const noexcept { return can_; }
  std::string bold(std::string_view text) const { return styled("1", text); }
  std::string faint(std::string_view text) const { return styled("2", text); }
  std::string good(std::string_view text) const { return styled("32", text); }
  std::string warning(std::string_view text) const { return styled("33", text); }
  std::string bad(std::string_view text) const { return styled("31", text); }

  /// Marks for the beginning of a line; all equally wide.
  std::string good_mark() const { return good(can_.symbols ? "✓ " : "ok"); }
  std::string warning_mark() const { return warning("! "); }
  std::string bad_mark() const { return bad(can_.symbols ? "✗ " : "X "); }
  std::string arrow() const { return can_.symbols ? "→" : "->"; }
  std::string micro() const { return can_.symbols ? "µs" : "us"; }
  std::string separator() const { return can_.symbols ? " · " : ", "; }

 private:
  std::string styled(const char* code, std::string_view text) const;
  abilities can_;
};

/// "23.0 GiB"
std::string bytes_text(double bytes);
/// "12,345,678".
std::string grouped(std::uint64_t n);
/// "12.3 ms", "870 us": three significant digits.
std::string time_text(const terminal& t, double seconds);
/// Puts blanks before the UTF-8 text until it is `columns` characters wide.
std::string padded(std::string text, std::size_t columns);
/// Breaks text at blanks into lines of at most `columns` characters.
std::string wrapped(std::string_view text, std::size_t columns, std::string_view indent);

}  // namespace troupe::apps

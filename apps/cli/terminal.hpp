// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::apps {

/// Decides what is written to a stream: colors, symbols and redrawn lines only if it is a terminal. Other output (to a
/// pipe or a file, or with TERM=dumb) is plain ASCII, and so is output with NO_COLOR set.
class terminal {
 public:
  struct abilities {
    bool live = false;  ///< lines may be redrawn
    bool colour = false;
    bool symbols = false;  ///< characters other than ASCII may be used
    int columns = 100;
  };

  terminal() noexcept = default;  // writes plain ASCII
  explicit terminal(abilities can) noexcept : can_(can) {}
  /// Returns what the stream and the environment allow.
  static terminal of(std::FILE* stream) noexcept;

  const abilities& can() const noexcept { return can_; }
  std::string bold(std::string_view text) const { return styled("1", text); }
  std::string faint(std::string_view text) const { return styled("2", text); }
  std::string good(std::string_view text) const { return styled("32", text); }
  std::string warning(std::string_view text) const { return styled("33", text); }
  std::string bad(std::string_view text) const { return styled("31", text); }

  /// Marks for the beginning of a line, all of the same width.
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

/// Shows a run in progress as one line: redrawn on a terminal, otherwise printed every second.
class progress {
 public:
  explicit progress(const terminal& t) noexcept : t_(t) {}
  /// `passed_s` is the time since the run began.
  void show(double passed_s, const std::string& line);
  void clear();

 private:
  const terminal& t_;
  double next_s_ = 1;
};

/// Returns a text such as "23.0 GiB".
std::string bytes_text(double bytes);
/// Returns a text such as "12,345,678".
std::string grouped(std::uint64_t n);
/// Returns a text with three significant digits: "12.3 ms", "870 us".
std::string time_text(const terminal& t, double seconds);
/// Returns the UTF-8 text with blanks before it, so that it is at least `columns` characters wide.
std::string padded(std::string text, std::size_t columns);
/// Returns a line of a table: a name of at least `name_columns` characters, then cells of `cell_columns`.
std::string table_row(std::string name, std::size_t name_columns, const std::vector<std::string>& cells,
                      std::size_t cell_columns);
/// Returns the text, broken at blanks into lines of at most `columns` characters.
std::string wrapped(std::string_view text, std::size_t columns, std::string_view indent);

}  // namespace troupe::apps

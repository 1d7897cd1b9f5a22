// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <troupe/base/result.hpp>
#include <utility>
#include <vector>

namespace troupe::apps {

/// Returns the word of `known` that `word` most likely stands for; empty if none is similar.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

/// The numbers that an option accepts, and its default.
struct number_range {
  double least = 0, most = 0, otherwise = 0;
};

/// An option, which begins with "--", or another argument, as the parser accepts it and the help describes it.
struct option {
  std::string_view name;
  std::string_view value = {};  ///< its name in the help; empty if the option takes no value
  std::string_view text = {};   ///< for the help; "{}" stands for the range
  number_range range = {};
};

/// The arguments that a command accepts. `help_text` makes the help from the same grammar.
struct grammar {
  std::string_view command;         ///< "troupe doctor"
  std::span<const option> options;  ///< without --help, which every command has; must outlive the command line
  std::size_t words = 0;            ///< how many arguments that are no options may be given
  std::string_view usage = "[option...]";
  std::string_view about = {}, more = {};  ///< for the help: before and after the list of options
};

/// A device as a user names it: "host", "cuda:0"; "cuda" is the same as "cuda:0".
struct named_device {
  std::string engine = "host";
  std::uint32_t ordinal = 0;

  std::string text() const { return engine == "host" ? engine : engine + ":" + std::to_string(ordinal); }
  friend bool operator==(const named_device&, const named_device&) = default;
};

/// Returns the text that `--help` prints.
std::string help_text(const grammar& g);

/// The parsed arguments of a command. `--name value` and `--name=value` are the same; -h is --help, which every command
/// has.
class command_line {
 public:
  /// Fails with what is wrong, and with a suggestion.
  static result<command_line> parse(const grammar& g, std::span<const char* const> arguments);

  bool has(std::string_view option) const noexcept { return find(option) != nullptr; }
  /// Returns the last value given.
  std::optional<std::string_view> value(std::string_view option) const noexcept;
  std::vector<std::string> values(std::string_view option) const;
  /// Fails if the number is outside the option's range.
  result<double> number(std::string_view option) const;
  /// Fails also if the number is not whole.
  result<int> count(std::string_view option) const;
  /// Returns the host device if the option is not given. Fails for an engine that is neither installed nor cuda; a
  /// missing cuda engine reports by itself what it lacks.
  result<named_device> device(std::string_view option) const;
  const std::vector<std::string_view>& words() const noexcept { return words_; }

 private:
  using given = std::pair<std::string_view, std::string_view>;
  template <class T>
  result<T> in_range(const char* kind, std::string_view option) const;
  const given* find(std::string_view option) const noexcept;

  std::string command_;
  std::span<const option> known_;
  std::vector<given> options_;
  std::vector<std::string_view> words_;
};

}  // namespace troupe::apps

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

/// The one of `known` that somebody who wrote `word` most likely meant; empty when none is at all like it.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

/// The numbers that an option takes, and the one that it has where it is not given.
struct number_range {
  double least = 0, most = 0, otherwise = 0;
};

/// An option, which begins with "--", or another argument: what the parser knows of it, and what the help says.
struct option {
  std::string_view name;
  std::string_view value = {};  ///< what the help calls its value; empty: it takes none
  std::string_view text = {};   ///< for the help; "{}" stands for the range
  number_range range = {};
};

/// What a command knows. Its help is made from the same, and so cannot say anything else: see help_text.
struct grammar {
  std::string_view command;         ///< "troupe doctor"
  std::span<const option> options;  ///< but for --help, which every command has; they outlive the command line
  std::size_t words = 0;            ///< how many arguments may be no option
  std::string_view usage = "[option...]";
  std::string_view about = {}, more = {};  ///< for the help: before and after the list of options
};

/// The device that somebody names: "host", "cuda:0"; "cuda" is the first as well.
struct named_device {
  std::string engine = "host";
  std::uint32_t ordinal = 0;

  std::string text() const { return engine == "host" ? engine : engine + ":" + std::to_string(ordinal); }
  friend bool operator==(const named_device&, const named_device&) = default;
};

/// The whole text that `--help` prints.
std::string help_text(const grammar& g);

/// A command's arguments, taken apart: `--name value` and `--name=value` are the same; -h is --help, which every
/// command has.
class command_line {
 public:
  /// The error names what is wrong, and what was probably meant.
  static result<command_line> parse(const grammar& g, std::span<const char* const> arguments);

  bool has(std::string_view option) const noexcept { return find(option) != nullptr; }
  /// The last one given counts.
  std::optional<std::string_view> value(std::string_view option) const noexcept;
  std::vector<std::string> values(std::string_view option) const;
  /// Refused outside of the option's range.
  result<double> number(std::string_view option) const;
  /// The same; refuses what is no whole number.
  result<int> count(std::string_view option) const;
  /// The host where the option is not given. Refuses an engine that is neither here nor cuda, which says itself what it
  /// lacks.
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

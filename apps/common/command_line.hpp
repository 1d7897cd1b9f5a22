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

/// What a command knows: options start with "--", and those that take a value end in "=": "--seconds=".
struct grammar {
  std::string_view command;  ///< for texts: "troupe doctor"
  std::span<const std::string_view> options;
  std::size_t words = 0;  ///< how many arguments may be no option
};

/// The device that somebody names: "host", "cuda:0"; "cuda" is the first as well.
struct named_device {
  std::string engine = "host";
  std::uint32_t ordinal = 0;

  std::string text() const { return engine == "host" ? engine : engine + ":" + std::to_string(ordinal); }
  friend bool operator==(const named_device&, const named_device&) = default;
};

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
  /// `otherwise` where the option is not given.
  result<double> number(std::string_view option, double otherwise, double least, double most) const;
  /// The same; refuses what is no whole number.
  result<int> count(std::string_view option, int otherwise, int least, int most) const;
  /// The host where the option is not given.
  result<named_device> device(std::string_view option) const;
  const std::vector<std::string_view>& words() const noexcept { return words_; }

 private:
  using given = std::pair<std::string_view, std::string_view>;
  template <class T>
  result<T> between(const char* kind, std::string_view option, T otherwise, T least, T most) const;
  const given* find(std::string_view option) const noexcept;

  std::string command_;
  std::vector<given> options_;
  std::vector<std::string_view> words_;
};

}  // namespace troupe::apps

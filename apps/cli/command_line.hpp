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

/// Returns the word of `known` that `word` most likely means, or an empty text if none is similar.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

/// The numbers that an option accepts, and its default value.
struct number_range {
  double least = 0, most = 0, otherwise = 0;
};

/// An option, which begins with "--", or another argument, as the parser accepts it and the help shows it.
struct option {
  std::string_view name;
  std::string_view value = {};  ///< name of its value in the help; empty if the option takes no value
  std::string_view text = {};   ///< description for the help, in which "{}" stands for the range
  number_range range = {};
};

/// The arguments that a command accepts. The parser and `help_text` both use it.
struct grammar {
  std::string_view command;  ///< such as "troupe doctor"
  /// without --help, which every command has. The array must outlive the command line
  std::span<const option> options;
  std::size_t words = 0;  ///< the number of arguments, other than options, that may be given
  std::string_view usage = "[option...]";
  std::string_view about = {}, more = {};  ///< texts for the help, before and after the list of options
};

/// A device as a user writes it: "host", "cuda:0"; "cuda" means "cuda:0".
struct named_device {
  std::string engine = "host";
  std::uint32_t ordinal = 0;

  std::string text() const { return engine == "host" ? engine : engine + ":" + std::to_string(ordinal); }
  friend bool operator==(const named_device&, const named_device&) = default;
};

/// Returns the text that `--help` prints.
std::string help_text(const grammar& g);

/// The parsed arguments of a command. `--name value` and `--name=value` mean the same; -h means --help, which every
/// command has.
class command_line {
 public:
  /// Parses arguments. The error says what is wrong, and suggests what the user may have meant.
  static result<command_line> parse(const grammar& g, std::span<const char* const> arguments);

  bool has(std::string_view option) const noexcept { return find(option) != nullptr; }
  /// Returns the value of the option's last occurrence.
  std::optional<std::string_view> value(std::string_view option) const noexcept;
  std::vector<std::string> values(std::string_view option) const;
  /// Fails if the number is outside the option's range.
  result<double> number(std::string_view option) const;
  /// Fails if the number is outside the option's range or not whole.
  result<int> count(std::string_view option) const;
  /// Returns the host device if the option is not given. Fails if the engine is neither installed nor called cuda: a
  /// missing cuda engine reports what it lacks.
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

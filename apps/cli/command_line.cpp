// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <apps/cli/command_line.hpp>
#include <apps/cli/installation.hpp>
#include <charconv>
#include <cstdio>
#include <numeric>

namespace troupe::apps {
namespace {

// Returns how many letters must be inserted, removed, replaced or exchanged with their neighbor.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) now[j] = std::min(now[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, now);
  }
  return last[b.size()];
}

error wrong(const std::string& command, std::string text) {
  return error(reaction::caller_bug, "command line", command + ": " + std::move(text));
}

const option* known(std::span<const option> all, std::string_view name) noexcept {
  const auto found = std::find_if(all.begin(), all.end(), [&](const option& o) { return o.name == name; });
  return found == all.end() ? nullptr : &*found;
}

error unknown_option(const grammar& g, std::string_view name) {
  std::vector<std::string_view> names{"--help"};
  for (const option& o : g.options) names.push_back(o.name);
  std::string text = "there is no option " + std::string(name);
  if (const std::string_view near = nearest(name, names); !near.empty())
    text += "; did you mean " + std::string(near) + "?";
  else
    text += "; " + std::string(g.command) + " --help lists them";
  return wrong(std::string(g.command), std::move(text));
}

std::string text_of(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.12g", number);
  return text;
}

bool is_engine(std::string_view name) {
  if (name == "host" || name == "cuda") return true;
  const auto all = engine_files({installation::of_this_program().engines});
  return std::any_of(all.begin(), all.end(), [&](const engine_file& e) { return e.backend == name; });
}

}  // namespace

std::string_view nearest(std::string_view word, std::span<const std::string_view> known) {
  std::string_view best;
  // Allows one difference for three letters: otherwise any two short words would be similar.
  const std::size_t letters = word.size() - std::min(word.find_first_not_of('-'), word.size());
  std::size_t least = std::max<std::size_t>(1, letters / 3) + 1;
  for (const std::string_view k : known) {
    const bool long_enough = std::min(letters, k.size()) >= 3;
    const std::size_t d = long_enough && k.starts_with(word)   ? 1
                          : long_enough && word.starts_with(k) ? 2
                                                               : distance(word, k);
    if (d < least && d < k.size()) least = d, best = k;
  }
  return best;
}

result<command_line> command_line::parse(const grammar& g, std::span<const char* const> arguments) {
  command_line out;
  out.command_ = g.command;
  out.known_ = g.options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view a = arguments[i];
    if (a == "-h" || a == "--help") {
      out.options_.emplace_back("--help", "");
    } else if (!a.starts_with("-") || a == "-") {
      if (out.words_.size() == g.words)
        return wrong(out.command_, "\"" + std::string(a) + "\" is one argument too many; " + out.command_ +
                                       " --help shows the usage");
      out.words_.push_back(a);
    } else {
      const std::string_view name = a.substr(0, a.find('='));
      const option* const o = known(g.options, name);
      if (o == nullptr) return unknown_option(g, name);
      const bool takes_value = !o->value.empty(), has_value = name.size() != a.size();
      if (has_value && !takes_value) return wrong(out.command_, std::string(name) + " takes no value");
      if (takes_value && !has_value && i + 1 == arguments.size())
        return wrong(out.command_, std::string(name) + " needs a value, as in " + std::string(name) + "=...");
      const std::string_view value = has_value     ? a.substr(name.size() + 1)
                                     : takes_value ? std::string_view(arguments[++i])
                                                   : std::string_view();
      out.options_.emplace_back(o->name, value);
    }
  }
  return out;
}

const command_line::given* command_line::find(std::string_view option) const noexcept {
  for (auto g = options_.rbegin(); g != options_.rend(); ++g)
    if (g->first == option) return &*g;
  return nullptr;
}

std::optional<std::string_view> command_line::value(std::string_view option) const noexcept {
  const given* g = find(option);
  return g == nullptr ? std::nullopt : std::optional(g->second);
}

std::vector<std::string> command_line::values(std::string_view option) const {
  std::vector<std::string> out;
  for (const auto& [name, value] : options_)
    if (name == option) out.emplace_back(value);
  return out;
}

template <class T>
result<T> command_line::in_range(const char* kind, std::string_view option) const {
  const number_range range = known(known_, option)->range;
  const auto given = value(option);
  if (!given) return static_cast<T>(range.otherwise);
  T v = 0;
  const char* const end = given->data() + given->size();
  const auto [rest, failed] = std::from_chars(given->data(), end, v);
  const auto number = static_cast<double>(v);
  if (failed == std::errc() && rest == end && number >= range.least && number <= range.most) return v;
  return wrong(command_, std::string(option) + " is \"" + std::string(*given) + "\"; expected " + kind + " from " +
                             text_of(range.least) + " to " + text_of(range.most));
}

result<double> command_line::number(std::string_view option) const { return in_range<double>("a number", option); }

result<int> command_line::count(std::string_view option) const { return in_range<int>("a whole number", option); }

result<named_device> command_line::device(std::string_view option) const {
  const auto given = value(option);
  if (!given) return named_device{};
  const auto is_name = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  const std::size_t colon = given->find(':');
  const std::string_view engine = given->substr(0, colon),
                         number = colon == std::string_view::npos ? "0" : given->substr(colon + 1);
  named_device out{.engine = std::string(engine)};
  const char* const end = number.data() + number.size();
  const auto [rest, failed] = std::from_chars(number.data(), end, out.ordinal);
  const bool good = !engine.empty() && std::all_of(engine.begin(), engine.end(), is_name) && failed == std::errc() &&
                    rest == end && (engine != "host" || out.ordinal == 0);
  if (good && is_engine(engine)) return out;
  return wrong(command_, std::string(option) + " is \"" + std::string(*given) + "\"" +
                             (good ? ", and no engine is called " + std::string(engine) : "") +
                             "; expected host, or an engine and the number of its device, as in cuda:0");
}

}  // namespace troupe::apps

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <troupe/jit/host/dependencies.hpp>
#include <utility>

namespace troupe::jit {

std::vector<std::string> files_in_rule(std::string_view rule) {
  std::vector<std::string> out;
  const std::size_t colon = rule.find(": ");
  if (colon == std::string_view::npos) return out;
  rule.remove_prefix(colon + 1);
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) out.push_back(std::exchange(word, {}));
  };
  for (std::size_t i = 0; i < rule.size(); ++i) {
    const char c = rule[i], next = i + 1 < rule.size() ? rule[i + 1] : '\0';
    if (c == '\\' && (next == ' ' || next == '#' || next == '\\')) {
      word += next, ++i;
    } else if (c == '\\' && next == '\n') {
      end_word(), ++i;
    } else if (c == '$' && next == '$') {
      word += '$', ++i;
    } else if (c == ' ' || c == '\n' || c == '\t') {
      end_word();
      if (c == '\n') break;  // the first rule only; the others are for the headers
    } else {
      word += c;
    }
  }
  end_word();
  return out;
}

std::vector<std::string> paths_to_watch(std::string_view rule, const std::vector<std::string>& include_paths) {
  std::set<std::string> all(include_paths.begin(), include_paths.end());
  for (const std::string& file : files_in_rule(rule)) {
    if (!file.starts_with('/')) continue;
    all.insert(file);
    for (std::size_t i = 0; i < include_paths.size(); ++i) {
      if (!file.starts_with(include_paths[i] + "/")) continue;
      const std::string rest = file.substr(include_paths[i].size());
      for (std::size_t before = 0; before < i; ++before) all.insert(include_paths[before] + rest);
      break;
    }
  }
  return {all.begin(), all.end()};
}

}  // namespace troupe::jit

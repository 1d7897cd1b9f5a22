// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <set>
#include <troupe/jit/cache/compiled.hpp>
#include <troupe/jit/cache/includes.hpp>
#include <troupe/plan/files.hpp>

namespace troupe::jit {
namespace {

constexpr std::size_t most_files = 4096;

constexpr std::string_view blanks = " \t\v\f";

std::string_view without_blanks(std::string_view t) noexcept {
  t.remove_prefix(std::min(t.find_first_not_of(blanks), t.size()));
  return t;
}
std::string_view without_blanks_behind(std::string_view t) noexcept {
  return t.substr(0, t.find_last_not_of(blanks) + 1);
}
// Recognizes every spelling of '#'.
bool ends_with_hash(std::string_view t) noexcept {
  return t.ends_with('#') || t.ends_with("%:") || t.ends_with("?\?=");
}

// Returns the text with continued lines joined, as the compiler sees it.
std::string with_joined_lines(std::string_view text) {
  std::string out;
  for (std::size_t end = text.find('\\'); end != text.npos; end = text.find('\\')) {
    out += text.substr(0, end);
    text.remove_prefix(end + 1);
    const std::size_t line_end = text.starts_with("\r\n") ? 2 : text.starts_with('\n') ? 1 : 0;
    if (line_end == 0) out += '\\';
    text.remove_prefix(line_end);
  }
  return out.append(text);
}

// Given the text before a "__has_include" that no parenthesis follows: returns true if the directive only tests whether
// __has_include is defined. In any other directive, it may become part of a macro.
bool only_tests_definition(std::string_view before) {
  const std::string_view line = before.substr(before.rfind('\n') + 1);
  if (line.find_first_of("#%?") == line.npos && line.find("*/") == line.npos) return true;
  before = without_blanks_behind(before);
  if (before.ends_with('(')) return without_blanks_behind(before.substr(0, before.size() - 1)).ends_with("defined");
  return before.ends_with("defined") || before.ends_with("ifdef") || before.ends_with("ifndef");
}

class search {
 public:
  search(const recipe& r, const std::string& headers_in) : recipe_(r), headers_in_(headers_in) {}

  read_files run() {
    scan(recipe_.source, "");
    for (const unit& u : recipe_.units) scan(u.source, "");
    for (const auto& [name, text] : recipe_.headers)
      scan(text, headers_in_.empty() ? "" : (std::filesystem::path(headers_in_) / name).parent_path().string());
    for (const auto& [name, value] : recipe_.definitions)
      if (value.find("__has_include") != value.npos) unknown("the definition of " + name);
    while (out_.why_unknown.empty() && !waiting_.empty()) {
      const std::string path = std::move(waiting_.back());
      waiting_.pop_back();
      scan(plan::read_file(path).value_or(""), std::filesystem::path(path).parent_path().string());
    }
    return std::move(out_);
  }

 private:
  void unknown(const std::string& what) {
    if (out_.why_unknown.empty()) out_.why_unknown = "it is unknown which files " + what + " reads";
  }

  // `folder` is the folder of the text's file, or empty if the text comes from memory.
  void scan(const std::string& text, const std::string& folder) {
    if (!folder.empty() && mentions_time(text)) unknown("a header that mentions the time");
    const std::string lines = with_joined_lines(text);
    for (std::size_t at = lines.find("include"); at != lines.npos; at = lines.find("include", at + 1)) {
      std::string_view before = std::string_view(lines).substr(0, at), after = std::string_view(lines).substr(at + 7);
      if (after.starts_with("_next")) after.remove_prefix(5);
      if (before.ends_with("__has_")) {
        after = without_blanks(after);
        if (!after.starts_with('(')) {
          before.remove_suffix(6);
          if (!only_tests_definition(before)) unknown("a macro with __has_include");
          continue;
        }
        after.remove_prefix(1);
      } else {
        before = without_blanks_behind(before);
        if (before.ends_with("*/")) unknown("an include after a comment");
        if (!ends_with_hash(before)) continue;
      }
      after = without_blanks(after);
      const char close = after.starts_with('<') ? '>' : after.starts_with('"') ? '"' : '\0';
      const std::size_t end = close == '\0' ? after.npos : after.find(close, 1);
      if (end == after.npos)
        unknown("#include" + std::string(1, ' ') +
                std::string(after.substr(0, std::min(after.find('\n'), std::size_t{60}))));
      else
        find_include(std::string(after.substr(1, end - 1)), close == '"' ? folder : "");
    }
  }

  void find_include(const std::string& name, const std::string& beside) {
    std::vector<std::string> places;
    if (name.starts_with('/')) places.push_back("");
    if (!beside.empty()) places.push_back(beside);
    places.insert(places.end(), recipe_.include_paths.begin(), recipe_.include_paths.end());
    for (const std::string& place : places) {
      const std::string path = (std::filesystem::path(place) / name).lexically_normal().string();
      if (!seen_.insert(path).second) continue;
      if (seen_.size() > most_files) return unknown("a program with more than 4096 includes");
      auto s = plan::stamp_of(path);
      if (!s) return unknown(path);
      const bool file = s->is == plan::stamp::kind::file;
      out_.made_from.push_back(std::move(*s));
      if (file) waiting_.push_back(path);
    }
  }

  const recipe& recipe_;
  const std::string& headers_in_;
  read_files out_;
  std::set<std::string> seen_;
  std::vector<std::string> waiting_;
};

}  // namespace

read_files files_a_compile_may_read(const recipe& r, const std::string& headers_in) {
  return search(r, headers_in).run();
}

}  // namespace troupe::jit

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <set>
#include <troupe/jit/cache/compiled.hpp>
#include <troupe/jit/cache/files.hpp>
#include <troupe/jit/cuda/includes.hpp>

namespace troupe::jit {
namespace {

constexpr std::size_t most_files = 4096;

std::string_view without_blanks(std::string_view t) noexcept {
  while (!t.empty() && (t.front() == ' ' || t.front() == '\t')) t.remove_prefix(1);
  return t;
}

class search {
 public:
  explicit search(const recipe& r) : recipe_(r) {}

  read_files run() {
    look_at(recipe_.source, "");
    for (const unit& u : recipe_.units) look_at(u.source, "");
    // NVRTC takes a header in memory for a file of that name, from wherever it runs.
    std::error_code unknown_place;
    const auto here = std::filesystem::current_path(unknown_place);
    for (const auto& [name, text] : recipe_.headers) look_at(text, (here / name).parent_path().string());
    for (const auto& [name, value] : recipe_.definitions)
      if (value.find("__has_include") != value.npos) unknown("the definition of " + name);
    while (out_.why_unknown.empty() && !waiting_.empty()) {
      const std::string path = std::move(waiting_.back());
      waiting_.pop_back();
      look_at(read_file(path).value_or(""), std::filesystem::path(path).parent_path().string());
    }
    return std::move(out_);
  }

 private:
  void unknown(const std::string& what) {
    if (out_.why_unknown.empty()) out_.why_unknown = "nobody knows which files " + what + " reads";
  }

  // `folder` is that of the text's file; empty when it comes from memory.
  void look_at(const std::string& text, const std::string& folder) {
    if (!folder.empty() && mentions_time(text)) unknown("a header that mentions the time");
    for (std::size_t at = text.find("include"); at != text.npos; at = text.find("include", at + 1)) {
      std::string_view before = std::string_view(text).substr(0, at), after = std::string_view(text).substr(at + 7);
      const bool asks = before.ends_with("__has_");
      if (after.starts_with("_next")) after.remove_prefix(5);
      if (asks) {
        after = without_blanks(after);
        if (!after.starts_with('(')) continue;
        after.remove_prefix(1);
      } else {
        while (!before.empty() && (before.back() == ' ' || before.back() == '\t')) before.remove_suffix(1);
        if (!before.ends_with('#') && !before.ends_with("\\\n")) continue;
      }
      after = without_blanks(after);
      const char close = after.starts_with('<') ? '>' : after.starts_with('"') ? '"' : '\0';
      const std::size_t end = close == '\0' ? after.npos : after.find(close, 1);
      if (end == after.npos)
        unknown("#include" + std::string(1, ' ') +
                std::string(after.substr(0, std::min(after.find('\n'), std::size_t{60}))));
      else
        look_for(std::string(after.substr(1, end - 1)), close == '"' ? folder : "");
    }
  }

  void look_for(const std::string& name, const std::string& beside) {
    std::vector<std::string> places;
    if (name.starts_with('/')) places.push_back("");
    if (!beside.empty()) places.push_back(beside);
    places.insert(places.end(), recipe_.include_paths.begin(), recipe_.include_paths.end());
    for (const std::string& place : places) {
      const std::string path = (std::filesystem::path(place) / name).lexically_normal().string();
      if (!seen_.insert(path).second) continue;
      if (seen_.size() > most_files) return unknown("so many includes");
      auto s = stamp_of(path);
      if (!s) return unknown(path);
      const bool file = s->is == stamp::kind::file;
      out_.made_from.push_back(std::move(*s));
      if (file) waiting_.push_back(path);
    }
  }

  const recipe& recipe_;
  read_files out_;
  std::set<std::string> seen_;
  std::vector<std::string> waiting_;
};

}  // namespace

read_files files_a_compile_may_read(const recipe& r) { return search(r).run(); }

}  // namespace troupe::jit

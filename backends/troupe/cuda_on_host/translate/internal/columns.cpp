// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/cuda_on_host/translate/internal/passes.hpp>

namespace troupe::cuda_on_host {

namespace {

// Decodes a file name from a line marker.
std::string without_escapes(const std::string& name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '\\' && i + 1 < name.size()) ++i;
    out += name[i];
  }
  return out;
}

bool is_word(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
         (c & 0x80) != 0;
}

// The lines of a file, with comments replaced by blanks.
class source_lines {
 public:
  explicit source_lines(std::string text) : text_(std::move(text)) {
    blank_comments();
    begins_.push_back(0);
    for (std::size_t i = 0; i < text_.size(); ++i)
      if (text_[i] == '\n') begins_.push_back(i + 1);
  }

  std::string_view operator[](std::uint32_t number) const noexcept {
    if (number == 0 || number > begins_.size()) return {};
    const std::size_t begin = begins_[number - 1];
    const std::size_t end = number < begins_.size() ? begins_[number] - 1 : text_.size();
    return std::string_view(text_).substr(begin, end - begin);
  }

 private:
  void blank_comments() {
    for (std::size_t i = 0; i + 1 < text_.size(); ++i) {
      if (text_[i] == '"' || (text_[i] == '\'' && (i == 0 || !is_word(text_[i - 1])))) {
        const char quote = text_[i];
        for (++i; i < text_.size() && text_[i] != quote && text_[i] != '\n'; ++i)
          if (text_[i] == '\\') ++i;
      } else if (text_[i] == '/' && text_[i + 1] == '/') {
        for (; i < text_.size() && text_[i] != '\n'; ++i) text_[i] = ' ';
      } else if (text_[i] == '/' && text_[i + 1] == '*') {
        const std::size_t close = text_.find("*/", i + 2);
        const std::size_t end = close == std::string::npos ? text_.size() : close + 2;
        for (; i < end; ++i)
          if (text_[i] != '\n') text_[i] = ' ';
        --i;
      }
    }
  }

  std::string text_;
  std::vector<std::size_t> begins_;
};

bool has_token_at(std::string_view line, std::size_t at, std::string_view token) noexcept {
  if (at > line.size() || line.substr(at, token.size()) != token) return false;
  if (!is_word(token.front())) return true;
  const std::size_t end = at + token.size();
  return (at == 0 || !is_word(line[at - 1])) && (end == line.size() || !is_word(line[end]));
}

// Returns the position of the token in the line, at or after `from`, or npos.
std::size_t find_token(std::string_view line, std::size_t from, std::string_view token) noexcept {
  for (std::size_t at = line.find(token, from); at != line.npos; at = line.find(token, at + 1))
    if (has_token_at(line, at, token)) return at;
  return line.npos;
}

}  // namespace

void find_columns(token_list& s, const source_reader& read) {
  constexpr std::size_t longest = 1000;  // longer lines are skipped, because the search would take too long
  std::vector<std::optional<source_lines>> files(s.files.size());
  std::vector<bool> was_read(s.files.size(), false);
  std::string_view line;
  std::size_t behind = 0;  // the position after the last token that was found
  bool in_macro = false;
  for (std::size_t i = 0; i < s.size(); ++i) {
    token& t = s.tokens[i];
    if (t.kind == token_kind::pragma) continue;
    if (!was_read[t.file]) {
      was_read[t.file] = true;
      if (auto text = read(without_escapes(s.files[t.file]))) files[t.file].emplace(std::move(*text));
    }
    if (i == 0 || s.tokens[i - 1].line != t.line || s.tokens[i - 1].file != t.file) {
      line = files[t.file] ? (*files[t.file])[t.line] : std::string_view();
      behind = 0;
      in_macro = false;
    }
    if (line.empty() || line.size() > longest) continue;
    std::size_t at = t.column - 1;
    if (at < behind || !has_token_at(line, at, t.text)) at = find_token(line, behind, t.text);
    if (at != line.npos) {
      behind = at + t.text.size();
      in_macro = false;
      t.column = static_cast<std::uint32_t>(at + 1);
      continue;
    }
    // The first token of a macro's expansion gets the column where the macro is used.
    const std::size_t macro = line.find_first_not_of(" \t", behind);
    t.column = in_macro || macro == line.npos ? 0 : static_cast<std::uint32_t>(macro + 1);
    in_macro = true;
  }
}

}  // namespace troupe::cuda_on_host

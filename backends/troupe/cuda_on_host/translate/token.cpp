// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/cuda_on_host/translate/token.hpp>

#include <algorithm>
#include <unordered_map>

namespace troupe::cuda_on_host {

namespace {

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
bool begins_identifier(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || (c & 0x80) != 0;
}
bool continues_identifier(char c) noexcept { return begins_identifier(c) || is_digit(c); }

constexpr std::string_view punctuators[] = {"<=>", "->*", "...", "<<=", ">>=", "->", "++", "--", "<<",
                                            ">>",  "<=",  ">=",  "==",  "!=",  "&&", "||", "+=", "-=",
                                            "*=",  "/=",  "%=",  "&=",  "|=",  "^=", "::", ".*", "##"};

class tokenizer {
 public:
  tokenizer(std::string_view source, std::string_view own_folder) : source_(source), own_folder_(own_folder) {
    out_.source = source;
  }

  token_list run() {
    file_named("");
    bool line_begins = true;
    while (at_ < source_.size()) {
      const char c = source_[at_];
      if (c == '\n') {
        ++line_;
        line_begin_ = ++at_;
        line_begins = true;
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
        ++at_;
      } else if (c == '#' && line_begins) {
        read_directive();
      } else if (system_) {
        at_ = line_end();
      } else {
        line_begins = false;
        read_token();
      }
    }
    out_.tokens.push_back({token_kind::end, line_, file_, 0, source_.substr(source_.size())});
    find_partners();
    return std::move(out_);
  }

 private:
  std::size_t line_end() const noexcept { return std::min(source_.find('\n', at_), source_.size()); }

  std::uint32_t file_named(std::string_view name) {
    const auto [it, is_new] = numbers_.try_emplace(std::string(name), static_cast<std::uint32_t>(out_.files.size()));
    if (is_new) out_.files.emplace_back(name);
    return it->second;
  }

  // Finds the end of a directive, which continues after a backslash at the end of a line, and within a comment.
  std::size_t directive_end() const noexcept {
    std::size_t i = at_;
    for (; i < source_.size() && source_[i] != '\n'; ++i) {
      if (source_[i] == '\\') {
        if (source_.substr(i + 1, 2) == "\r\n") ++i;
        ++i;
      } else if (source_.substr(i, 2) == "/*") {
        i = std::min(source_.find("*/", i + 2), source_.size() - 2) + 1;
      } else if (source_[i] == '"') {
        i = quoted(i) - 1;
        if (source_[i] == '\n') --i;
      }
    }
    return std::min(i, source_.size());
  }

  // Reads a line marker, `# 12 "file.cu" 2 3`, or a #pragma; in a text that is not preprocessed, any directive.
  void read_directive() {
    const std::string_view text = source_.substr(at_, directive_end() - at_);
    std::size_t i = 1;
    while (i < text.size() && text[i] == ' ') ++i;
    if (text.substr(i).starts_with("line ")) i += 5;
    if (i < text.size() && is_digit(text[i])) {
      std::uint32_t number = 0;
      while (i < text.size() && is_digit(text[i])) number = number * 10 + static_cast<std::uint32_t>(text[i++] - '0');
      line_ = number - 1;  // the line that ends with this directive precedes line `number`
      const std::size_t open = text.find('"', i);
      if (open != std::string_view::npos) {
        std::size_t close = open + 1;
        while (close < text.size() && text[close] != '"') close += text[close] == '\\' ? 2 : 1;
        close = std::min(close, text.size());
        file_ = file_named(text.substr(open + 1, close - open - 1));
        // Decides whether a file is a system header when it is entered: later, the 3 may stand for a macro from a
        // system header.
        const bool is_own = !own_folder_.empty() && text.substr(open + 1).starts_with(own_folder_);
        const bool marked =
            is_own || (close < text.size() && text.substr(close + 1).find('3') != std::string_view::npos);
        if (file_ >= system_files_.size()) system_files_.resize(file_ + 1, marked);
        system_ = system_files_[file_];
      }
    } else if (!system_ && text.substr(i).starts_with("pragma")) {
      out_.tokens.push_back({token_kind::pragma, line_, file_, 0, text});
    } else if (!system_) {
      out_.directives.push_back(text);
    }
    line_ += static_cast<std::uint32_t>(std::count(text.begin(), text.end(), '\n'));
    at_ += text.size();
  }

  void push(token_kind kind, std::size_t length) {
    length = std::min(length, source_.size() - at_);
    const std::string_view text = source_.substr(at_, length);
    out_.tokens.push_back({kind, line_, file_, static_cast<std::uint32_t>(at_ - line_begin_ + 1), text});
    if (const std::size_t end = text.rfind('\n'); end != std::string_view::npos) line_begin_ = at_ + end + 1;
    line_ += static_cast<std::uint32_t>(std::count(text.begin(), text.end(), '\n'));
    at_ += length;
  }

  void read_token() {
    const char c = source_[at_];
    if (begins_identifier(c)) return read_word();
    if (is_digit(c) || (c == '.' && at_ + 1 < source_.size() && is_digit(source_[at_ + 1]))) return read_number();
    if (c == '"' || c == '\'') return push(token_kind::literal, quoted(at_) - at_);
    const std::string_view rest = source_.substr(at_, 3);
    if (rest.starts_with("//")) {
      at_ = line_end();
      return;
    }
    if (rest.starts_with("/*")) {
      const std::size_t end = source_.find("*/", at_ + 2);
      const std::size_t stop = end == std::string_view::npos ? source_.size() : end + 2;
      const std::string_view comment = source_.substr(at_, stop - at_);
      if (const std::size_t last = comment.rfind('\n'); last != std::string_view::npos) line_begin_ = at_ + last + 1;
      line_ += static_cast<std::uint32_t>(std::count(comment.begin(), comment.end(), '\n'));
      at_ = stop;
      return;
    }
    for (const std::string_view p : punctuators)
      if (rest.starts_with(p)) return push(token_kind::punctuator, p.size());
    push(token_kind::punctuator, 1);
  }

  // Reads an identifier, or the prefix of a literal: u8"...", LR"(...)".
  void read_word() {
    std::size_t end = at_ + 1;
    while (end < source_.size() && continues_identifier(source_[end])) ++end;
    const std::string_view text = source_.substr(at_, end - at_);
    const bool quote = end < source_.size() && (source_[end] == '"' || source_[end] == '\'');
    const bool raw = text.ends_with('R') && end < source_.size() && source_[end] == '"';
    std::string_view encoding = text;
    if (raw) encoding.remove_suffix(1);
    if (quote && (encoding.empty() || encoding == "L" || encoding == "u8" || encoding == "u" || encoding == "U"))
      return push(token_kind::literal, (raw ? raw_string(end) : quoted(end)) - at_);
    push(token_kind::identifier, text.size());
  }

  void read_number() {
    std::size_t end = at_ + 1;
    while (end < source_.size()) {
      const char c = source_[end], before = source_[end - 1];
      const bool exponent =
          (c == '+' || c == '-') && (before == 'e' || before == 'E' || before == 'p' || before == 'P');
      const bool separator = c == '\'' && end + 1 < source_.size() && continues_identifier(source_[end + 1]);
      if (!continues_identifier(c) && c != '.' && !exponent && !separator) break;
      ++end;
    }
    push(token_kind::number, end - at_);
  }

  std::size_t quoted(std::size_t open) const noexcept {
    std::size_t i = open + 1;
    while (i < source_.size() && source_[i] != source_[open] && source_[i] != '\n') i += source_[i] == '\\' ? 2 : 1;
    return std::min(i + 1, source_.size());
  }

  std::size_t raw_string(std::size_t open) const {
    const std::size_t paren = source_.find('(', open);
    if (paren == std::string_view::npos || paren - open > 17) return quoted(open);
    const std::string end = ")" + std::string(source_.substr(open + 1, paren - open - 1)) + "\"";
    const std::size_t found = source_.find(end, paren);
    return found == std::string_view::npos ? source_.size() : found + end.size();
  }

  void find_partners() {
    const auto none = static_cast<std::uint32_t>(out_.size());
    out_.partner.assign(out_.tokens.size(), none);
    std::vector<std::uint32_t> open;
    for (std::uint32_t i = 0; i < none; ++i) {
      const token& t = out_.tokens[i];
      if (t.is("__global__") && !out_.unmatched) find_unclosed_function(open, i);
      if (t.kind != token_kind::punctuator || t.text.size() != 1) continue;
      const char c = t.text[0];
      if (c == '(' || c == '[' || c == '{') open.push_back(i);
      if (c != ')' && c != ']' && c != '}') continue;
      const char wanted = c == ')' ? '(' : c == ']' ? '[' : '{';
      if (open.empty()) {
        report_unmatched(
            i, "this '" + std::string(t.text) + "' closes nothing; remove it, or add the matching '" + wanted + "'");
        continue;
      }
      if (out_.tokens[open.back()].text[0] != wanted) {
        report_unmatched(open.back(), cat("this '", out_.tokens[open.back()].text, "' is not closed before the '",
                                          t.text, "' in line ", t.line));
        continue;
      }
      out_.partner[open.back()] = i;
      out_.partner[i] = open.back();
      open.pop_back();
    }
    if (!open.empty())
      report_unmatched(open.back(), "this '" + std::string(out_.tokens[open.back()].text) +
                                        "' is not closed before the end of the source");
  }

  void report_unmatched(std::uint32_t at, std::string text) {
    if (!out_.unmatched) out_.unmatched = {at, std::move(text)};
  }

  // Finds a function that is not closed: kernels are not declared inside functions, so a } must be missing before the
  // kernel. A { after ) or the like opens a function's body.
  void find_unclosed_function(const std::vector<std::uint32_t>& open, std::uint32_t kernel) {
    for (const std::uint32_t i : open) {
      const token& before = i == 0 ? out_.tokens.back() : out_.tokens[i - 1];
      if (!out_.tokens[i].is("{") || !(before.is(")") || before.is("const") || before.is("noexcept"))) continue;
      const std::uint32_t last = open.back();
      return report_unmatched(last, cat("this '", out_.tokens[last].text,
                                        "' is not closed before the __global__ in line ", out_.tokens[kernel].line));
    }
  }

  std::string_view source_, own_folder_;
  std::size_t at_ = 0, line_begin_ = 0;
  std::uint32_t line_ = 1, file_ = 0;
  bool system_ = false;
  std::vector<bool> system_files_{false};
  std::unordered_map<std::string, std::uint32_t> numbers_;
  token_list out_;
};

}  // namespace

token_list tokenize(std::string_view preprocessed, std::string_view own_folder) {
  return tokenizer(preprocessed, own_folder).run();
}

std::size_t token_list::after_angles(std::size_t open, std::size_t limit) const noexcept {
  constexpr std::size_t longest = 2048;  // a longer bracket, examined repeatedly, would cost more than linear time
  limit = std::min(limit, open + longest);
  std::size_t depth = 0;
  for (std::size_t i = open; i < limit; ++i) {
    const token& t = (*this)[i];
    if (t.kind != token_kind::punctuator) continue;
    if (t.text == "<") {
      ++depth;
    } else if (t.text == ">" || t.text == ">>") {
      depth -= std::min<std::size_t>(depth, t.text.size());
      if (depth == 0) return i + 1;
    } else if (t.text == "(" || t.text == "[" || t.text == "{") {
      const std::size_t close = closing(i);
      if (close >= limit) return open;
      i = close;
    } else if (t.text == ";" || t.text == ")" || t.text == "]" || t.text == "}") {
      return open;
    }
  }
  return open;
}

}  // namespace troupe::cuda_on_host

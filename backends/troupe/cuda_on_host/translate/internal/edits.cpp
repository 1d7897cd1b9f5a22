// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/cuda_on_host/translate/internal/edits.hpp>

#include <algorithm>

namespace troupe::cuda_on_host {

edited_source::edit& edited_source::edit_of(std::size_t token) {
  if (token >= source_.size()) return discarded_ = {};
  if (which_[token] == 0) {
    edits_.emplace_back();
    which_[token] = static_cast<std::uint32_t>(edits_.size());
  }
  return edits_[which_[token] - 1];
}

void edited_source::replace(std::size_t token, std::string text) {
  edit_of(token) = {.before = {}, .text = std::move(text), .behind = {}, .replaced = true};
}

void edited_source::erase(std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < std::min(end, source_.size()); ++i) replace(i, "");
}

void edited_source::add_before(std::size_t token, const std::string& text) {
  edit& e = edit_of(token);
  e.before.insert(0, text);
}

void edited_source::add_behind(std::size_t token, const std::string& text) { edit_of(token).behind += text; }

// Writes each token at its original line and column.
class edited_source::writer {
 public:
  // Begins at `column`, where the next character will be written.
  writer(const edited_source& of, std::size_t column) : of_(of), s_(of.source_), shift_(column) {}

  void copy(std::size_t from, std::size_t to) { add(s_.source.substr(from, to - from)); }

  void token(std::size_t i) {
    const troupe::cuda_on_host::token& t = s_[i];
    const edit* const e = of_.which_[i] == 0 ? nullptr : &of_.edits_[of_.which_[i] - 1];
    if (e) add(e->before);
    if (e && e->replaced) {
      add(e->text);
    } else {
      move_to(t, i);
      add(t.text);
    }
    if (e) add(e->behind);
  }

  std::string take() { return std::move(out_); }

 private:
  void add(std::string_view text) {
    out_ += text;
    if (const std::size_t last = text.rfind('\n'); last != std::string_view::npos) {
      line_begin_ = out_.size() - (text.size() - last - 1);
      shift_ = 1;
    }
  }
  std::size_t column() const noexcept { return out_.size() - line_begin_ + shift_; }

  void move_to(const troupe::cuda_on_host::token& t, std::size_t i) {
    if (t.column == 0 || t.column == column()) return;
    // "text"_suffix is one token for the compiler, so nothing may be inserted before the suffix.
    const bool glued = i > 0 && s_[i - 1].kind == token_kind::literal &&
                       s_[i - 1].text.data() + s_[i - 1].text.size() == t.text.data();
    if (glued) return;
    if (t.column < column()) add(of_.marker(i));
    out_.append(t.column - column(), ' ');
  }

  const edited_source& of_;
  const token_list& s_;
  std::string out_;
  std::size_t line_begin_ = 0, shift_;  // line_begin_: the position from which columns count
};

std::string edited_source::slice(std::size_t begin, std::size_t end) const {
  end = std::min(end, source_.size());
  if (begin >= end) return {};
  writer w(*this, std::max<std::size_t>(source_[begin].column, 1));
  for (std::size_t i = begin; i < end; ++i) {
    if (i > begin) w.copy(source_.offset(i - 1) + source_[i - 1].text.size(), source_.offset(i));
    w.token(i);
  }
  return w.take();
}

std::string edited_source::all() const {
  writer w(*this, 1);
  std::size_t at = 0;
  for (std::size_t i = 0; i < source_.size(); ++i) {
    w.copy(at, source_.offset(i));
    w.token(i);
    at = source_.offset(i) + source_[i].text.size();
  }
  w.copy(at, source_.source.size());
  return w.take();
}

std::string edited_source::marker(std::size_t token) const {
  const troupe::cuda_on_host::token& t = source_[token];
  return cat("\n# ", t.line, " \"", source_.files[t.file], "\"\n",
             std::string(std::max<std::size_t>(t.column, 1) - 1, ' '));
}

}  // namespace troupe::cuda_on_host

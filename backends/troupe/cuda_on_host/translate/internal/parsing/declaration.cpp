// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/cuda_on_host/translate/internal/parsing/declaration.hpp>
#include <troupe/cuda_on_host/translate/internal/parsing/words.hpp>

namespace troupe::cuda_on_host {

namespace {

bool is_qualifier(std::string_view w) noexcept {
  return w == "const" || w == "__restrict__" || w == "__restrict" || w == "register" || w == "__device__";
}
bool is_statement_word(std::string_view w) noexcept {
  return w == "return" || w == "break" || w == "continue" || w == "goto" || w == "delete" || w == "new" ||
         w == "throw" || w == "sizeof" || w == "if" || w == "for" || w == "while" || w == "do" || w == "switch" ||
         w == "else" || w == "co_await" || w == "co_return" || w == "co_yield" || w == "this" || w == "static_cast" ||
         w == "reinterpret_cast" || w == "const_cast" || w == "operator" || w == "asm" || w == "__asm__";
}

class statement_reader {
 public:
  statement_reader(const token_list& source, std::size_t begin, std::size_t end)
      : s_(source), begin_(begin), end_(end) {
    while (begin_ < end_ && s_[begin_].kind == token_kind::pragma) ++begin_;
  }

  classified_statement run() {
    classified_statement out;
    const token& first = s_[begin_];
    if (begin_ >= end_ || first.is(";")) return {.kind = statement_kind::block_wide};
    if (first.is("using") || first.is("typedef") || first.is("static_assert"))
      return {.kind = statement_kind::block_wide};
    if (first.is("struct") || first.is("class") || first.is("union") || first.is("enum")) {
      // A class alone is the same for all threads; a class followed by a declarator is not handled.
      const bool alone = end_ >= 2 && s_[end_ - 2].is("}") && s_.closing(end_ - 2) < end_;
      return {.kind = alone ? statement_kind::block_wide : statement_kind::unknown};
    }
    if (first.is("{") || first.is("if") || first.is("for") || first.is("while") || first.is("do") || first.is("switch"))
      return {.kind = statement_kind::expression};
    bool shared = false, external = false, constant = false, odd = false;
    for (std::size_t i = begin_; i < end_ && s_[i].is_identifier(); ++i) {
      shared |= s_[i].is("__shared__");
      external |= s_[i].is("extern");
      constant |= s_[i].is("constexpr");
      odd |= s_[i].is("static") || s_[i].is("volatile") || s_[i].is("thread_local") || s_[i].is("mutable");
    }
    if (constant || (shared && external)) return {.kind = statement_kind::block_wide};
    if (!shared && odd) return out;
    if (read_declaration(out.variables)) {
      out.kind = shared ? statement_kind::shared : statement_kind::variables;
      return out;
    }
    if (shared || looks_like_declaration()) return out;
    out.kind = statement_kind::expression;
    return out;
  }

 private:
  // Two adjacent names outside of brackets cannot begin an expression.
  bool looks_like_declaration() const {
    if (s_[begin_].is("auto") || s_[begin_ + 1].is("auto")) return true;
    for (std::size_t i = begin_; i + 1 < end_; ++i) {
      if (s_[i].is("(") || s_[i].is("[") || s_[i].is("{")) {
        i = s_.closing(i);
        continue;
      }
      if (s_[i].is("=")) return false;
      if (s_[i].is_identifier() && s_[i + 1].is_identifier() && !is_statement_word(s_[i].text) &&
          !is_statement_word(s_[i + 1].text))
        return true;
    }
    return false;
  }

  bool read_declaration(variable_declaration& d) {
    std::size_t i = begin_;
    d.type = begin_;
    bool has_type = false, words = false;
    d.is_number = true;
    for (; i < end_; ++i) {
      const token& t = s_[i];
      if (t.is("alignas") || t.is("__align__")) {
        if (!s_[i + 1].is("(")) return false;
        i = s_.closing(i + 1);
        continue;
      }
      if (!t.is_identifier() && !t.is("::")) break;
      if (is_statement_word(t.text)) return false;
      if (t.is("const")) d.is_const = true;
      if (is_qualifier(t.text) || t.is("__shared__") || t.is("static") || t.is("volatile") || t.is("typename"))
        continue;
      if (is_built_of_words(t.text)) {
        if (has_type && !words) break;
        has_type = words = true;
        d.named_at = i;
        continue;
      }
      if (has_type) break;  // the previous token was the type, so this one is the name
      if (t.is("auto")) d.is_auto = true;
      d.is_number = is_number_word(t.text);
      d.is_vector = is_vector_word(t.text);
      d.named_at = i;
      has_type = true;
      const std::size_t first = i;
      if (!qualified_name(i)) return false;
      if (i != first) d.is_number = d.is_vector = false;
    }
    if (!has_type) return false;
    d.type_end = i;
    for (;;) {
      declarator one;
      if (!read_declarator(i, one)) return false;
      d.declarators.push_back(one);
      if (s_[i].is(";") && i + 1 == end_) return true;
      if (!s_[i].is(",")) return false;
      ++i;
    }
  }

  // Moves `i` to the last token of a qualified name, such as ns::type<int>::other.
  bool qualified_name(std::size_t& i) const {
    if (s_[i].is("::")) ++i;
    for (;;) {
      if (!s_[i].is_identifier()) return false;
      if (s_[i + 1].is("<")) {
        const std::size_t after = s_.after_angles(i + 1, end_);
        if (after == i + 1) return false;
        i = after - 1;
      }
      if (!s_[i + 1].is("::")) return true;
      i += 2;
      if (s_[i].is("template")) ++i;
    }
  }

  bool read_declarator(std::size_t& i, declarator& d) const {
    d.begin = i;
    for (; s_[i].is("*") || s_[i].is("&") || s_[i].is("&&") || (s_[i].is_identifier() && is_qualifier(s_[i].text));
         ++i) {
      d.is_pointer |= s_[i].is("*");
      d.is_reference |= s_[i].is("&") || s_[i].is("&&");
    }
    if (!s_[i].is_identifier() || is_statement_word(s_[i].text)) return false;
    d.name = s_[i].text;
    d.name_at = i++;
    while (s_[i].is("[")) {
      d.is_array = true;
      ++d.dimensions;
      i = s_.closing(i) + 1;
    }
    if (i >= end_) return false;
    d.end = d.initialiser = d.initialiser_end = i;
    if (s_[i].is("(") || s_[i].is("{")) {
      d.initialiser_end = i = s_.closing(i) + 1;
    } else if (s_[i].is("=")) {
      d.is_assigned = true;
      d.initialiser = ++i;
      for (; i < end_ && !s_[i].is(",") && !s_[i].is(";"); ++i) {
        if (s_[i].is("(") || s_[i].is("[") || s_[i].is("{")) {
          i = s_.closing(i);
        } else if (s_[i].is("<")) {
          const std::size_t after = s_.after_angles(i, end_);  // as in f<a, b>(x)
          if (after != i && s_[after].is("(")) i = after - 1;
        }
      }
      d.initialiser_end = i;
    }
    return i < end_;
  }

  const token_list& s_;
  std::size_t begin_;
  const std::size_t end_;
};

}  // namespace

classified_statement classify(const token_list& source, std::size_t begin, std::size_t end) {
  return statement_reader(source, begin, end).run();
}

}  // namespace troupe::cuda_on_host

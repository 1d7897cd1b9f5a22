// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/cuda_on_host/translate/internal/parsing/words.hpp>

#include <algorithm>
#include <iterator>

namespace troupe::cuda_on_host {

namespace {

constexpr std::string_view built[] = {"int", "unsigned", "signed", "long", "short", "char", "float", "double"};
constexpr std::string_view numbers[] = {"bool",    "size_t",  "ptrdiff_t", "int8_t",   "int16_t",  "int32_t",
                                        "int64_t", "uint8_t", "uint16_t",  "uint32_t", "uint64_t", "uintptr_t",
                                        "uint",    "ushort",  "intptr_t",  "ulong"};
constexpr std::string_view elements[] = {"char", "uchar", "short",    "ushort",    "int",   "uint",
                                         "long", "ulong", "longlong", "ulonglong", "float", "double"};

bool among(const auto& words, std::string_view word) noexcept {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

}  // namespace

bool is_built_of_words(std::string_view w) noexcept { return among(built, w); }
bool is_number_word(std::string_view w) noexcept { return among(built, w) || among(numbers, w); }
bool is_vector_word(std::string_view w) noexcept {
  if (w == "dim3") return true;
  if (w.size() < 4 || w.back() < '1' || w.back() > '4') return false;
  w.remove_suffix(1);
  return among(elements, w);
}
bool is_control_word(std::string_view w) noexcept { return w == "if" || w == "while" || w == "for" || w == "switch"; }
bool is_unevaluated_word(std::string_view w) noexcept {
  return w == "sizeof" || w == "alignof" || w == "noexcept" || w == "static_assert";
}
bool is_word_before_expression(std::string_view w) noexcept {
  return w == "return" || w == "else" || w == "case" || w == "do" || w == "and" || w == "or" || w == "not" ||
         w == "throw" || w == "delete" || w == "new" || w == "sizeof" || w == "goto" || w == "co_return" ||
         w == "co_await" || w == "co_yield";
}

bool is_specifier_beside(const token_list& s, std::size_t i, std::string_view word) noexcept {
  constexpr std::size_t most = 16;
  for (std::size_t k = i; k-- > 0 && i - k < most && s[k].is_identifier();)
    if (s[k].text == word) return true;
  for (std::size_t k = i + 1; k < i + most && s[k].is_identifier(); ++k)
    if (s[k].text == word) return true;
  return false;
}

bool is_assignment(const token& t) noexcept {
  if (t.kind != token_kind::punctuator || !t.text.ends_with('=')) return false;
  return t.text != "==" && t.text != "!=" && t.text != "<=" && t.text != ">=";
}
bool is_step(const token& t) noexcept { return t.is("++") || t.is("--"); }
bool is_member(const token_list& s, std::size_t i) noexcept {
  return i > 0 && (s[i - 1].is(".") || s[i - 1].is("->") || s[i - 1].is("::"));
}

}  // namespace troupe::cuda_on_host

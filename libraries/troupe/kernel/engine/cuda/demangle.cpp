// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <troupe/base/text/cat.hpp>
#include <troupe/kernel/engine/cuda/demangle.hpp>

namespace troupe::kernel {
namespace {

std::optional<std::string> demangled(const std::string& mangled) {
  if (!mangled.starts_with("_Z")) return std::nullopt;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0 || text == nullptr) return std::nullopt;
  return std::string(text.get());
}

bool opens(char c) noexcept { return c == '(' || c == '<' || c == '[' || c == '{'; }
bool closes(char c) noexcept { return c == ')' || c == '>' || c == ']' || c == '}'; }

std::string_view trimmed(std::string_view t) noexcept {
  while (!t.empty() && t.front() == ' ') t.remove_prefix(1);
  while (!t.empty() && t.back() == ' ') t.remove_suffix(1);
  return t;
}

// Splits a list at the commas outside of brackets.
std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    if (i < list.size() && opens(list[i])) ++depth;
    if (i < list.size() && closes(list[i])) --depth;
    if (i < list.size() && (list[i] != ',' || depth != 0)) continue;
    if (const auto part = trimmed(list.substr(begin, i - begin)); !part.empty()) parts.emplace_back(part);
    begin = i + 1;
  }
  return parts;
}

dtype type_of(std::string_view name) noexcept {
  struct entry {
    std::string_view name;
    dtype type;
  };
  static constexpr entry all[] = {{"float", dtype::f32},
                                  {"double", dtype::f64},
                                  {"__half", dtype::f16},
                                  {"__nv_bfloat16", dtype::bf16},
                                  {"char", dtype::i8},
                                  {"signed char", dtype::i8},
                                  {"unsigned char", dtype::u8},
                                  {"short", dtype::i16},
                                  {"unsigned short", dtype::u16},
                                  {"int", dtype::i32},
                                  {"unsigned int", dtype::u32},
                                  {"long", dtype::i64},
                                  {"unsigned long", dtype::u64},
                                  {"long long", dtype::i64},
                                  {"unsigned long long", dtype::u64},
                                  {"bool", dtype::boolean}};
  for (const entry& e : all)
    if (e.name == name) return e.type;
  return dtype{};
}

// Respells "float const*" as "const float*".
parameter_attributes parameter_of(std::string_view text) {
  constexpr std::string_view constant = " const", restricted = " __restrict__";
  if (text.ends_with(restricted)) text.remove_suffix(restricted.size());
  parameter_attributes p{std::string(text), passing::value, type_of(text), bytes_of(type_of(text)),
                         bytes_of(type_of(text))};
  // Of a pointer to arrays, such as "double const (*) [30]", only the constness is known.
  for (const std::string_view to_arrays : {" (*) [", " (&) ["}) {
    const std::size_t at = text.find(to_arrays);
    if (at == std::string_view::npos || !text.ends_with(']')) continue;
    p.passing = text.substr(0, at).ends_with(constant) ? passing::const_pointer : passing::pointer;
    return p;
  }
  const bool reference = text.ends_with('&');
  if (!text.ends_with('*') && !reference) return p;
  text.remove_suffix(1);
  const bool reads_only = text.ends_with(constant);
  if (reads_only) text.remove_suffix(constant.size());
  // Of a pointer to pointers or to functions, nothing more is known.
  p.passing = reads_only ? passing::const_pointer : passing::pointer;
  p.element = type_of(text);
  p.bytes = p.alignment = bytes_of(p.element);
  if (!text.ends_with('*') && !text.ends_with('&'))
    p.type = (reads_only ? "const " : "") + std::string(text) + (reference ? "&" : "*");
  return p;
}

}  // namespace

std::optional<demangled_kernel> demangle_kernel(const std::string& mangled) {
  const auto text = demangled(mangled);
  if (!text || !text->ends_with(')')) return std::nullopt;
  int depth = 0;
  std::size_t begin = text->size();
  while (begin > 0) {
    const char c = (*text)[--begin];
    if (c == ')') ++depth;
    if (c == '(' && --depth == 0) break;
  }
  demangled_kernel out;
  std::string_view name = std::string_view(*text).substr(0, begin);
  // the return type, which is part of the mangled names of templates
  if (name.starts_with("void ")) name.remove_prefix(5);
  out.name = name;
  for (const std::string& part : split(std::string_view(*text).substr(begin + 1, text->size() - begin - 2)))
    out.parameters.push_back(parameter_of(part));
  return out;
}

std::string mangle_variable(std::string_view name) {
  if (name.find("::") == name.npos) return std::string(name);
  std::string out = "_ZN";
  while (!name.empty()) {
    const std::size_t end = std::min(name.find("::"), name.size());
    if (end != 0) out += cat(end, name.substr(0, end));  // the name before a leading :: is empty
    name.remove_prefix(std::min(end + 2, name.size()));
  }
  return out + "E";
}

}  // namespace troupe::kernel

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/jit/cache/compiled.hpp>
#include <troupe/jit/host/diagnosis.hpp>

namespace troupe::jit {
namespace {

// Returns the text between the first occurrence of `before` and the next of `behind`, or an empty text.
std::string_view between(std::string_view text, std::string_view before, std::string_view behind) {
  const std::size_t at = text.find(before);
  if (at == text.npos) return {};
  text.remove_prefix(at + before.size());
  return text.substr(0, text.find(behind));
}

std::string_view undefined_symbol(std::string_view messages) {
  if (const auto of_bfd = between(messages, "undefined reference to `", "'\n"); !of_bfd.empty()) return of_bfd;
  return between(messages, "undefined symbol: ", "\n");  // lld's message
}

std::string not_defined(std::string_view symbol) {
  const bool is_function = symbol.find('(') != symbol.npos;
  return "the " + std::string(is_function ? "function " : "name ") + std::string(symbol) +
         " is declared and used, but not defined: define it in the source or in a header that it includes, because the "
         "host "
         "engine links no libraries to it";
}

bool is_broken(const std::string& messages) {
  return messages.find("internal compiler error") != messages.npos ||   // g++
         messages.find("PLEASE submit a bug report") != messages.npos;  // clang++
}

}  // namespace

std::string diagnosis(const std::string& messages, int exit_code, std::string_view compiler) {
  std::string what = first_error(messages);
  if (what.empty()) what = cat("the compiler exited with code ", exit_code, " and printed nothing");
  if (is_broken(messages))
    return what + "; this is a defect of the compiler (" + std::string(compiler) +
           "), not of the source: name another compiler, such as clang++, in TROUPE_CXX or recipe::compiler";
  if (const auto symbol = undefined_symbol(messages); !symbol.empty()) return not_defined(symbol);
  return what;
}

}  // namespace troupe::jit

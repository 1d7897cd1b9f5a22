// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "kernel_texts.hpp"

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <troupe/cuda_on_host/translate/token.hpp>

namespace troupe::testing {
namespace {

char escaped(char c) {
  switch (c) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case '0':
      return '\0';
    case '"':
    case '\'':
    case '\\':
      return c;
    default:
      throw std::runtime_error(std::string("unknown escape \\") + c + " in a string with a kernel");
  }
}

bool is_string(const cuda_on_host::token& t) {
  return t.kind == cuda_on_host::token_kind::literal && (t.text.starts_with('"') || t.text.starts_with("R\""));
}

}  // namespace

std::string value_of(std::string_view literal) {
  if (literal.starts_with('R')) {
    const std::size_t open = literal.find('('), close = literal.rfind(')');
    return std::string(literal.substr(open + 1, close - open - 1));
  }
  std::string out;
  for (std::size_t i = 1; i + 1 < literal.size(); ++i) out += literal[i] == '\\' ? escaped(literal[++i]) : literal[i];
  return out;
}

std::vector<kernel_text> kernel_texts_of(std::string_view source, std::string_view with) {
  const cuda_on_host::token_list tokens = cuda_on_host::tokenize(source);
  std::vector<kernel_text> out;
  for (std::size_t i = 0; i < tokens.size();) {
    if (!is_string(tokens[i])) {
      ++i;
      continue;
    }
    const std::size_t first = i;
    bool has_kernel = false;
    for (; is_string(tokens[i]); ++i) has_kernel |= tokens[i].text.find(with) != std::string_view::npos;
    if (!has_kernel) continue;
    kernel_text t{tokens[first].line, "", !(first > 0 && tokens[first - 1].is("+")) && !tokens[i].is("+")};
    for (std::size_t k = first; k < i; ++k) t.text += value_of(tokens[k].text);
    out.push_back(std::move(t));
  }
  return out;
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error("cannot read " + file.string());
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace troupe::testing

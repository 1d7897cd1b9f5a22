// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/cuda_on_host/translate/internal/parsing/names.hpp>

namespace troupe::cuda_on_host {
namespace {

std::string kernels_of(const unit& u) {
  std::string out;
  for (const definition& d : u.definitions)
    if (d.is_kernel && d.is_function() && d.has_body && !d.is_specialisation)
      out += cat(out.empty() ? "" : ", ", d.qualified(), d.is_template ? "<…>" : "");
  return out.empty() ? "none" : out;
}

}  // namespace

std::string last_identifier(const std::string& name_expression) {
  const token_list tokens = tokenize(name_expression);
  std::size_t at = 0;
  while (at + 1 < tokens.size() && !tokens[at + 1].is("<")) ++at;
  return tokens.size() == 0 ? std::string() : std::string(tokens[at].text);
}

std::vector<finding> find_unknown_names(const token_list& tokens, const unit& u, const translate_options& options) {
  std::vector<finding> out;
  const auto occurs = [&tokens](std::string_view name) {
    for (std::size_t i = 0; i < tokens.size(); ++i)
      if (tokens[i].is(name)) return true;
    return false;
  };
  const auto report = [&](const token& where, std::string text) {
    out.push_back({tokens.files[where.file], where.line, std::move(text)});
  };
  if (tokens.size() == 0) return out;
  const token& last = tokens[tokens.size() - 1];
  for (const std::string& name : options.kernels) {
    const std::string own = last_identifier(name);
    if (own.empty()) continue;
    const definition* found = nullptr;  // a kernel of this name, or else a function of this name
    for (const definition& d : u.definitions)
      if (d.is_function() && d.name == own && (found == nullptr || (d.is_kernel && !found->is_kernel))) found = &d;
    if (found != nullptr && !found->is_kernel)
      report(tokens[found->name_at], cat('"', name, "\" is a function without __global__; kernels: ", kernels_of(u)));
    else if (found == nullptr && !occurs(own))
      report(last, cat("there is no kernel \"", name, "\"; kernels: ", kernels_of(u)));
  }
  for (const std::string& name : options.globals)
    if (const std::string own = last_identifier(name); !own.empty() && !occurs(own))
      report(last, cat("there is no variable \"", name, '"'));
  return out;
}

}  // namespace troupe::cuda_on_host

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/text/cat.hpp>
#include <troupe/cuda_on_host/translate/internal/aliases.hpp>
#include <troupe/cuda_on_host/translate/internal/parsing/parameters.hpp>

namespace troupe::cuda_on_host {

namespace {

std::string types_of(const edited_source& source, const token_list& tokens, const unit& u, const definition& d) {
  std::string out = "::troupe_cuda::block&";
  for (const kernel_parameter& p : read_parameters(tokens, u, d.parameters)) {
    std::size_t end = p.begin;
    while (end < p.end && !tokens[end].is("=")) ++end;
    out += ", " + source.slice(p.begin, end);
  }
  return out;
}

}  // namespace

kernel_aliases add_aliases(edited_source& source, const token_list& tokens, const unit& u,
                           const translate_options& options, std::vector<finding>& findings) {
  kernel_aliases aliases;
  std::unordered_map<std::string, std::vector<const definition*>> same;
  for (const definition& d : u.definitions)
    if (d.is_kernel && d.has_body && !d.is_template && !d.in_class && !d.name.empty())
      same[d.qualified()].push_back(&d);
  for (const auto& [name, all] : same) {
    if (all.size() < 2) continue;
    if (std::find(options.kernels.begin(), options.kernels.end(), name) != options.kernels.end()) {
      const token& second = tokens[all[1]->name_at];
      findings.push_back({tokens.files[second.file], second.line,
                          cat("kernels has ", name, ", the name of ", all.size(),
                              " kernels: give each a different name, or make it a template")});
    }
    for (const definition* d : all) {
      const std::string alias = cat("troupe_k_", aliases.size());
      source.add_behind(d->end - 1, "static constexpr auto " + alias + " = static_cast<void (*)(" +
                                        types_of(source, tokens, u, *d) + ")>(" + std::string(d->name) + ");");
      aliases.emplace(d, alias);
    }
  }
  return aliases;
}

}  // namespace troupe::cuda_on_host

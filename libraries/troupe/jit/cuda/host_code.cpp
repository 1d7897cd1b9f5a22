// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/cuda_on_host/translate/host_code.hpp>
#include <troupe/jit/cuda/host_code.hpp>
#include <troupe/jit/cuda/translate.hpp>
#include <troupe/plan/files.hpp>

namespace troupe::jit {

std::optional<std::string> without_host_code(const recipe& r, const source_text& source) {
  const read_files read = files_nvrtc_may_read(r);
  if (!read.why_unknown.empty()) return {};
  std::vector<std::string> files;
  for (const plan::stamp& s : read.made_from)
    if (s.is == plan::stamp::kind::file)
      if (auto text = plan::read_file(s.path)) files.push_back(std::move(*text));
  std::string macros;
  for (const auto& [name, value] : r.definitions)
    macros.append("#define ").append(name).append(" ").append(value) += '\n';

  cuda_on_host::written_program program{.source = source.text, .others = {macros}, .names = source.kernels};
  program.names.insert(program.names.end(), source.globals.begin(), source.globals.end());
  program.others.insert(program.others.end(), files.begin(), files.end());
  for (const auto& [name, text] : r.headers) program.others.push_back(text);
  // A unit may use names that another unit defines, so the others are searched too.
  const auto add_source = [&](const std::string& text) {
    if (&text != &source.text) program.others.push_back(text);
  };
  add_source(r.source);
  for (const unit& u : r.units) add_source(u.source);
  return cuda_on_host::without_host_code(program);
}

}  // namespace troupe::jit

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/cuda_on_host/translate/internal/passes.hpp>
#include <troupe/cuda_on_host/translate/token.hpp>

namespace troupe::cuda_on_host {

namespace {

// Escapes a name expression for a string literal.
std::string literal(const std::string& name) {
  std::string out = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' || c == '\r' ? ' ' : c;
  }
  return out + "\"";
}

// Returns the name as an expression, without the leading & that NVRTC allows and without line ends.
std::string expression(const std::string& name) {
  std::string out;
  for (const char c : name) out += c == '\n' || c == '\r' ? ' ' : c;
  const std::size_t first = out.find_first_not_of(" \t");
  if (first != std::string::npos && out[first] == '&') out.erase(0, first + 1);
  return out;
}

std::string_view last_name(std::string_view name) {
  const std::size_t at = name.rfind("::");
  if (at != std::string_view::npos) name.remove_prefix(at + 2);
  while (!name.empty() && (name.front() == ' ' || name.front() == '&')) name.remove_prefix(1);
  while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
  return name;
}

}  // namespace

std::string trailer(const unit& u, const translate_options& options, const kernel_aliases& aliases, bool state) {
  std::vector<std::string> names = options.kernels, expressions;
  for (const std::string& name : names) expressions.push_back(expression(name));
  if (names.empty())
    for (const definition& d : u.definitions)
      if (d.is_kernel && d.is_function() && d.has_body && !d.is_template && !d.name.empty()) {
        names.push_back(d.qualified());
        const auto alias = aliases.find(&d);
        expressions.push_back(alias == aliases.end() ? names.back() : d.scope + alias->second);
      }

  const std::string n = std::to_string(names.size()), g = std::to_string(options.globals.size());
  std::string out = "\n# 1 \"<the image's table>\"\n";
  out += "namespace troupe_image {\n";
  out += "static ::troupe_host_kernel kernels[" + n + " + 1];\n";
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string number = std::to_string(i);
    out += "# 1 \"<name expression " + literal(expression(names[i])).substr(1) + "\n";
    out += "using entry_" + number + " = ::troupe_cuda::entry<" + (state ? "true" : "false") +
           ", ::troupe_cuda::kernel_of(" + expressions[i] + ")>;\n";
  }
  out += "__attribute__((constructor)) static void fill() {\n";
  for (std::size_t i = 0; i < names.size(); ++i)
    out += cat("  kernels[", i, "] = entry_", i, "::describe_as(", literal(names[i]), ");\n");
  out += "}\n";
  out += "static const ::troupe_host_global globals[" + g + " + 1] = {\n";
  for (const std::string& name : options.globals)
    out += "  ::troupe_cuda::global(" + literal(name) + ", " + expression(name) + ", " +
           (u.in_constant_memory.contains(last_name(name)) ? "true" : "false") + "),\n";
  out += "};\n}\n";
  out +=
      "__attribute__((used)) const ::troupe_host_image troupe_host_image_table = {"
      "::troupe_cuda::image_magic, ::troupe_cuda::image_version, sizeof(::troupe_host_image), troupe_image::kernels, " +
      n + ", troupe_image::globals, " + g + ", ::troupe_cuda::processor};\n";
  return out;
}

}  // namespace troupe::cuda_on_host

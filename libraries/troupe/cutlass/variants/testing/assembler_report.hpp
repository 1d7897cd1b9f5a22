// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdio>
#include <set>
#include <string>
#include <string_view>
#include <troupe/base/text/cat.hpp>
#include <vector>

namespace troupe::cutlass::testing {

/// The assembler's report on a function, with --ptxas-options=-v.
struct assembled_function {
  std::string name;
  int stack_bytes = -1, stored_bytes = -1, loaded_bytes = -1;  ///< -1: not reported
  bool is_clean() const noexcept { return stack_bytes == 0 && stored_bytes == 0 && loaded_bytes == 0; }
};

/// Returns the functions of a report, each once.
inline std::vector<assembled_function> functions_in(std::string_view report) {
  std::vector<assembled_function> out;
  const auto find = [&out](std::string_view name) -> assembled_function& {
    const auto at = std::find_if(out.begin(), out.end(), [&](const auto& f) { return f.name == name; });
    return at != out.end() ? *at : out.emplace_back(assembled_function{.name = std::string(name)});
  };
  assembled_function* current = nullptr;
  constexpr std::string_view entry = "Compiling entry function '", properties = "Function properties for ";
  while (!report.empty()) {
    const std::size_t end = std::min(report.find('\n'), report.size());
    const std::string line(report.substr(0, end));
    report.remove_prefix(std::min(end + 1, report.size()));
    if (const std::size_t at = line.find(entry); at != line.npos) {
      const std::size_t from = at + entry.size();
      current = nullptr;
      find(std::string_view(line).substr(from, line.find('\'', from) - from));
    } else if (const std::size_t named = line.find(properties); named != line.npos) {
      current = &find(std::string_view(line).substr(named + properties.size()));
    } else if (line.find(" bytes stack frame") != line.npos) {
      assembled_function none, &to = current != nullptr ? *current : out.emplace_back();
      const char* const numbers = line.c_str() + std::min(line.find_first_of("0123456789"), line.size());
      if (std::sscanf(numbers, "%d bytes stack frame, %d bytes spill stores, %d bytes spill loads", &none.stack_bytes,
                      &none.stored_bytes, &none.loaded_bytes) == 3)
        to.stack_bytes = std::max(to.stack_bytes, none.stack_bytes),
        to.stored_bytes = std::max(to.stored_bytes, none.stored_bytes),
        to.loaded_bytes = std::max(to.loaded_bytes, none.loaded_bytes);
    }
  }
  return out;
}

/// Returns the names of the functions that have code in a cubin.
inline std::set<std::string> functions_of(std::string_view image) {
  constexpr std::string_view section = ".text.";
  std::set<std::string> out;
  for (std::size_t at = image.find(section); at != image.npos; at = image.find(section, at + 1)) {
    const std::string_view name = image.substr(at + section.size());
    out.emplace(name.substr(0, name.find('\0')));
  }
  return out;
}

/// Returns the defects: functions that spill registers or have a stack frame of more than `known_stack_bytes`,
/// functions of `expected` that are not reported, and remarks of the assembler. Returns "" if there are no defects.
inline std::string why_not_clean(std::string_view report, const std::set<std::string>& expected,
                                 int known_stack_bytes = 0) {
  std::string out;
  const std::vector<assembled_function> all = functions_in(report);
  for (const assembled_function& f : all)
    if (!f.is_clean() && (known_stack_bytes == 0 || f.stack_bytes < 0 || f.stack_bytes > known_stack_bytes))
      out += cat(f.name, " has ", f.stack_bytes, " bytes of stack frame, ", f.stored_bytes, " of spill stores, ",
                 f.loaded_bytes, " of spill loads; expected ", known_stack_bytes, " (-1: not reported)\n");
  for (const std::string& name : expected)
    if (std::none_of(all.begin(), all.end(), [&](const assembled_function& f) { return f.name == name; }))
      out += cat(name, " is not in the report\n");
  if (expected.empty()) out += "no kernel is expected\n";
  for (const char* const remark : {"C7508", "C7509", "C7510", "serializ", "warning"})
    if (report.find(remark) != report.npos) out += cat("the assembler says \"", remark, "\"\n");
  return out;
}

}  // namespace troupe::cutlass::testing

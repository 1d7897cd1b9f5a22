// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/jit/host/notes.hpp>

namespace troupe::jit {
namespace {

std::string why_none(const error& e) {
  const std::string& text = e.text();
  const std::string begin = "jit.compile: ";
  return "none: " + (text.starts_with(begin) ? text.substr(begin.size()) : text);
}

std::string compiler_text(const installation& at) {
  const auto path = find_compiler({});
  if (!path) return why_none(path.error());
  // Runs the compiler itself, because one that the cache knows may no longer work. The time is limited, so that `troupe
  // doctor` does not hang if the compiler does.
  const auto found = known_compilers().identify(at.compiler_guard, *path, nullptr, time_span::of_seconds(3));
  if (!found) return why_none(found.error());
  return found->path + ", " + found->version;
}

}  // namespace

std::string notes_of(const installation& at, const plan::disk_cache& cache) {
  return "compiler: " + compiler_text(at) + "\n" + notes_of(cache);
}

}  // namespace troupe::jit

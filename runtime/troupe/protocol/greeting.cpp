// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <sstream>
#include <troupe/base/cat.hpp>
#include <troupe/protocol/greeting.hpp>

namespace troupe::protocol {
namespace {

error damaged(const char* what) { return error(reaction::fatal, "worker", cat("handshake: ", what)); }

}  // namespace

// Backend, stem, number of folders, folders and libraries, one per line.
std::string text_of(const greeting& g) {
  std::string out = cat(g.backend, "\n", g.gpu_core_stem, "\n", g.folders.size(), "\n");
  for (const std::string& folder : g.folders) out += folder + "\n";
  for (const std::string& library : g.libraries) out += library + "\n";
  return out;
}

result<greeting> parse_greeting(const worker_settings& settings, const std::string& text) {
  if (settings.version != version)
    return error(reaction::fatal, "worker",
                 cat("handshake: the application speaks protocol ", settings.version, ", this worker ", version,
                     "; install application and worker from the same version of Troupe"));
  greeting g{.settings = settings, .backend = {}, .gpu_core_stem = {}, .folders = {}, .libraries = {}};
  std::istringstream lines(text);
  std::string count, line;
  if (!std::getline(lines, g.backend) || !std::getline(lines, g.gpu_core_stem) || !std::getline(lines, count))
    return damaged("the greeting ends early");
  std::size_t folders = 0;
  const auto [end, bad] = std::from_chars(count.data(), count.data() + count.size(), folders);
  if (bad != std::errc() || end != count.data() + count.size()) return damaged("the greeting has no number of folders");
  while (std::getline(lines, line)) (g.folders.size() < folders ? g.folders : g.libraries).push_back(line);
  if (g.folders.size() < folders) return damaged("the greeting lists fewer folders than it announces");
  return g;
}

std::string gpu_core_file(const std::string& stem, int worker) {
  return stem.empty() ? stem : cat(stem, worker, ".gpucore");
}

}  // namespace troupe::protocol

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <sstream>
#include <troupe/base/text/cat.hpp>
#include <troupe/protocol/greeting.hpp>

namespace troupe::protocol {
namespace {

error damaged(const char* what) { return error(reaction::fatal, "worker", cat("handshake: ", what)); }

// Reads a line with a number, and as many further lines into `out`.
bool read_list(std::istream& lines, std::vector<std::string>& out) {
  std::string line;
  std::size_t count = 0;
  if (!std::getline(lines, line)) return false;
  const auto [end, bad] = std::from_chars(line.data(), line.data() + line.size(), count);
  if (bad != std::errc() || end != line.data() + line.size()) return false;
  while (out.size() < count && std::getline(lines, line)) out.push_back(line);
  return out.size() == count;
}

}  // namespace

// Writes the backend, the stem, and four lists, each as its length and one line for each item.
std::string text_of(const greeting& g) {
  std::string out = cat(g.backend, "\n", g.gpu_core_stem, "\n");
  for (const auto* list : {&g.folders, &g.readable_folders, &g.libraries, &g.plug_ins}) {
    out += cat(list->size(), "\n");
    for (const std::string& line : *list) out += line + "\n";
  }
  return out;
}

result<greeting> parse_greeting(const worker_settings& settings, const std::string& text) {
  if (settings.version != version)
    return error(reaction::fatal, "worker",
                 cat("handshake: the application speaks protocol ", settings.version, ", this worker ", version,
                     "; install application and worker from the same version of Troupe"));
  greeting g{.settings = settings,
             .backend = {},
             .gpu_core_stem = {},
             .folders = {},
             .libraries = {},
             .readable_folders = {},
             .plug_ins = {}};
  std::istringstream lines(text);
  if (!std::getline(lines, g.backend) || !std::getline(lines, g.gpu_core_stem))
    return damaged("the greeting is incomplete");
  for (auto* list : {&g.folders, &g.readable_folders, &g.libraries, &g.plug_ins})
    if (!read_list(lines, *list)) return damaged("a list in the greeting has fewer items than its length says");
  return g;
}

std::string gpu_core_file(const std::string& stem, int worker) {
  return stem.empty() ? stem : cat(stem, worker, ".gpucore");
}

}  // namespace troupe::protocol

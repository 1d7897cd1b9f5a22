// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <apps/troupe/engine_report.hpp>
#include <fstream>
#include <troupe/protocol/descriptions/description.hpp>

namespace troupe::apps {
namespace {

using condition = engine_report::condition;

// Returns true if the engine needs a library that is missing: the dynamic linker then says "libx.so.1: cannot open
// shared object file: No such file or directory".
bool says_library_missing(const std::string& why, const std::string& path) {
  return why.find("cannot open shared object file: No such file") != why.npos &&
         why.find(path + ": cannot open") == why.npos;
}

// Returns true if the library lacks something that it had when the engine was built: "undefined symbol: cublasGemmEx",
// or "version `libcublas.so.13' not found".
bool says_library_too_old(const std::string& why, const engine_report& r) {
  const std::size_t at = why.find("undefined symbol: ");
  if (at != why.npos) return !r.package.empty() && why.find("troupe", at) == why.npos;
  return why.find(": version `") != why.npos && why.find("' not found (required by") != why.npos;
}

// Removes what the worker adds for programs that know neither the engine nor the package, because doctor shows both.
std::string in_own_words(std::string why, const engine_report& r) {
  for (const std::string& known :
       {"library " + r.file.library + ": ", std::string("cannot load its engine: "), r.file.path + ": "})
    if (why.starts_with(known)) why.erase(0, known.size());
  if (const std::string known = "; install " + r.package; !r.package.empty() && why.ends_with(known))
    why.resize(why.size() - known.size());
  return why;
}

}  // namespace

void read_description(engine_report& r, const worker_answer& answer) {
  if (!answer.not_asked.empty()) {
    r.why = answer.not_asked;
    return;
  }
  using obstacle = protocol::engine_description::obstacle;
  const protocol::engine_description said = protocol::parse_engine_description(answer.description);
  const bool described = !said.library.empty();
  r.version = said.version;
  r.requests = said.requests;
  r.notes = said.notes;
  if (said.what == obstacle::unloadable)
    r.is = says_library_missing(said.why, r.file.path) ? condition::needs_library
           : says_library_too_old(said.why, r)         ? condition::outdated_library
                                                       : condition::broken;
  if (said.what == obstacle::no_device) r.is = condition::no_device;
  if (said.what == obstacle::refused)
    r.is = said.reaction == reaction::unsupported ? condition::unsuited : condition::broken;
  r.why = said.what == obstacle::no_device ? said.why : in_own_words(said.why, r);
  if (said.complete && answer.well()) {
    if (answer.end.value == 0 && described)
      r.is = condition::serves;
    else if (r.why.empty())
      r.why = "the worker gave no reason";
    return;
  }
  r.is = condition::broken;
  r.why = answer.what_happened(said.complete ? "after it was closed"
                               : described   ? "while it was closed"
                                             : "while it was loaded");
}

std::vector<engine_report> examine(const std::string& worker, const std::vector<engine_file>& files,
                                   time_span time_limit) {
  std::vector<engine_report> reports(files.size());
  std::vector<std::vector<std::string>> questions;
  for (std::size_t i = 0; i < files.size(); ++i) {
    engine_report& r = reports[i];
    r.file = files[i];
    std::ifstream needs(r.file.path.substr(0, r.file.path.size() - 3) + ".needs");
    std::getline(needs, r.package);
    if (r.file.hidden)
      r.is = condition::hidden;
    else
      questions.push_back({"--describe", r.file.path});
  }
  const std::vector<worker_answer> answers = ask_worker(worker, questions, time_limit);
  auto answer = answers.begin();
  for (engine_report& r : reports)
    if (!r.file.hidden) read_description(r, *answer++);
  return reports;
}

std::vector<operation_types> grouped(const std::vector<std::string>& requests) {
  std::vector<operation_types> all;
  for (const std::string& request : requests) {
    const std::size_t bracket = std::min(request.find('<'), request.size()), dot = request.find('.');
    const std::size_t start = dot < bracket ? dot + 1 : 0;
    const std::string operation = request.substr(start, bracket - start);
    auto found = std::find_if(all.begin(), all.end(), [&](const auto& o) { return o.operation == operation; });
    if (found == all.end()) found = all.insert(all.end(), {operation, {}});
    if (bracket < request.size()) found->types.push_back(request.substr(bracket + 1, request.size() - bracket - 2));
  }
  return all;
}

}  // namespace troupe::apps

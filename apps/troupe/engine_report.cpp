// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>
#include <unistd.h>
#include <algorithm>
#include <apps/troupe/engine_report.hpp>
#include <fstream>
#include <optional>
#include <sstream>
#include <troupe/base/clock.hpp>
#include <troupe/base/file_descriptor.hpp>

namespace troupe::apps {
namespace {

using condition = engine_report::condition;

// A file in memory that a child writes to: unlike a pipe, nobody must read it meanwhile.
file_descriptor scratch_file() { return file_descriptor(::memfd_create("troupe-doctor", MFD_CLOEXEC)); }

std::string content(const file_descriptor& file) {
  constexpr std::size_t most = 1 << 20;  // of who prints without an end
  std::string out(most, '\0');
  const ssize_t n = ::pread(file.get(), out.data(), most, 0);
  out.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return out;
}

std::string last_line(std::string_view text) {
  std::string last;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);)
    if (line.find_first_not_of(" \t\r") != line.npos) last = line;
  return last;
}

// The loader says "libx.so.1: cannot open shared object file: No such file or directory" of what an engine needs.
bool says_library_missing(const std::string& why, const std::string& path) {
  return why.find("cannot open shared object file: No such file") != why.npos &&
         why.find(path + ": cannot open") == why.npos;
}

// What the worker says for programs that do not know which engine and which package; here both are shown anyway.
std::string in_own_words(std::string why, const engine_report& r) {
  for (const std::string& known :
       {"library " + r.file.library + ": ", std::string("cannot load its engine: "), r.file.path + ": "})
    if (why.starts_with(known)) why.erase(0, known.size());
  if (const std::string known = "; install " + r.package; !r.package.empty() && why.ends_with(known))
    why.resize(why.size() - known.size());
  return why;
}

struct child {
  file_descriptor description = scratch_file(), complaints = scratch_file();
  std::optional<process> running;
};

}  // namespace

std::string_view to_string(condition c) noexcept {
  switch (c) {
    case condition::serves:
      return "serves";
    case condition::needs_library:
      return "needs_library";
    case condition::unsuited:
      return "unsuited";
    case condition::broken:
      return "broken";
    case condition::hidden:
      return "hidden";
  }
  return "broken";
}

void read_description(engine_report& r, std::string_view description, const exit_status& end,
                      std::string_view complaints) {
  bool complete = false, described = false;
  std::istringstream lines{std::string(description)};
  for (std::string line; std::getline(lines, line);) {
    const std::size_t blank = std::min(line.find(' '), line.size());
    const std::string key = line.substr(0, blank), value = line.substr(std::min(blank + 1, line.size()));
    if (key == "library") described = true;
    if (key == "version") r.version = value;
    if (key == "request") r.requests.push_back(value);
    if (key == "note") r.notes.push_back(value);
    if (key == "unloadable") {
      r.why = in_own_words(value, r);
      r.is = says_library_missing(value, r.file.path) ? condition::needs_library : condition::broken;
    }
    if (key == "refused") {
      const std::size_t second = std::min(value.find(' '), value.size());
      r.why = in_own_words(value.substr(std::min(second + 1, value.size())), r);
      r.is = value.substr(0, second) == "unsupported" ? condition::unsuited : condition::broken;
    }
    if (key == "end") complete = true;
  }
  if (complete && end.how == exit_status::ending::exited && end.value <= 1) {
    if (end.value == 0 && described) r.is = condition::serves;
    return;
  }
  r.is = condition::broken;
  const char* const when = complete    ? " after it was closed"
                           : described ? " while it was closed"
                                       : " while it was loaded";
  if (!end.ended())
    r.why = std::string("hangs") + when;
  else
    r.why = end.text() + when;
  if (const std::string said = last_line(complaints); !said.empty()) r.why += "; it said: " + said;
}

std::vector<engine_report> examine(const std::string& worker, const std::vector<engine_file>& files,
                                   time_span patience) {
  std::vector<engine_report> reports(files.size());
  std::vector<child> children(files.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    engine_report& r = reports[i];
    r.file = files[i];
    std::ifstream needs(r.file.path.substr(0, r.file.path.size() - 3) + ".needs");
    std::getline(needs, r.package);
    if (r.file.hidden) {
      r.is = condition::hidden;
      continue;
    }
    auto started = process::launch({.path = worker,
                                    .args = {"--describe", r.file.path},
                                    .stderr_fd = children[i].complaints.get(),
                                    .stdout_fd = children[i].description.get()});
    if (started)
      children[i].running = std::move(*started);
    else
      r.why = started.error().text();
  }
  const std::int64_t deadline = patience.after(now_ns());
  for (std::size_t i = 0; i < files.size(); ++i) {
    child& c = children[i];
    if (!c.running) continue;
    const auto end = c.running->wait(deadline);
    if (!end)
      reports[i].why = end.error().text();
    else
      read_description(reports[i], content(c.description), *end, content(c.complaints));
  }
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

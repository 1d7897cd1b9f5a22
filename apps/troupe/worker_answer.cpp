// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>
#include <unistd.h>
#include <apps/troupe/worker_answer.hpp>
#include <optional>
#include <sstream>
#include <troupe/base/clock.hpp>
#include <troupe/base/linux/file_descriptor.hpp>

namespace troupe::apps {
namespace {

// Makes a file in memory for a child's output. Unlike a pipe, it needs no reader while the child runs.
file_descriptor scratch_file() { return file_descriptor(::memfd_create("troupe-doctor", MFD_CLOEXEC)); }

std::string content(const file_descriptor& file) {
  constexpr std::size_t most = 1 << 20;  // limit, in case the output does not end
  std::string out(most, '\0');
  const ssize_t n = ::pread(file.get(), out.data(), most, 0);
  out.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return out;
}

std::string last_line(const std::string& text) {
  std::string last;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.find_first_not_of(" \t\r") != line.npos) last = line;
  return last;
}

struct child {
  file_descriptor description = scratch_file(), complaints = scratch_file();
  std::optional<process> running;
};

}  // namespace

std::string worker_answer::what_happened(const std::string& when) const {
  std::string out = (end.ended() ? end.text() : std::string("hangs")) + " " + when;
  if (const std::string said = last_line(complaints); !said.empty()) out += "; it said: " + said;
  return out;
}

std::vector<worker_answer> ask_worker(const std::string& worker, const std::vector<std::vector<std::string>>& arguments,
                                      time_span time_limit) {
  std::vector<worker_answer> answers(arguments.size());
  std::vector<child> children(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    auto started = process::launch({.path = worker,
                                    .args = arguments[i],
                                    .stderr_fd = children[i].complaints.get(),
                                    .stdout_fd = children[i].description.get()});
    if (started)
      children[i].running = std::move(*started);
    else
      answers[i].not_asked = started.error().text();
  }
  const std::int64_t deadline = time_limit.after(now_ns());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    child& c = children[i];
    if (!c.running) continue;
    worker_answer& a = answers[i];
    const auto end = c.running->wait(deadline);
    if (!end) {
      a.not_asked = end.error().text();
      continue;
    }
    a.end = *end;
    a.description = content(c.description);
    a.complaints = content(c.complaints);
  }
  return answers;
}

}  // namespace troupe::apps

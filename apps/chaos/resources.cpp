// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <unistd.h>
#include <apps/chaos/resources.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>
#include <troupe/base/clock.hpp>
#include <troupe/base/text/cat.hpp>

namespace chaos {
namespace fs = std::filesystem;

namespace {

int entries_of(const char* folder) {
  std::error_code gone;
  int n = 0;
  for (fs::directory_iterator at(folder, gone), end; !gone && at != end; at.increment(gone)) ++n;
  return n;
}

// Counts the processes whose parent is this process.
int children() {
  int n = 0;
  std::error_code gone;
  for (fs::directory_iterator at("/proc", gone), end; !gone && at != end; at.increment(gone)) {
    const std::string name = at->path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(at->path() / "stat");
    std::string line;
    std::getline(file, line);
    // The program's name, which is in brackets, may contain any character.
    const auto bracket = line.rfind(')');
    if (bracket == std::string::npos || line.size() < bracket + 4) continue;
    if (std::strtol(line.c_str() + bracket + 4, nullptr, 10) == ::getpid()) ++n;
  }
  return n;
}

int mapped_memory_files() {
  std::ifstream maps("/proc/self/maps");
  int n = 0;
  for (std::string line; std::getline(maps, line);)
    if (line.find("/memfd:troupe") != std::string::npos) ++n;
  return n;
}

void add(std::string& text, int more, const char* one, const char* many) {
  if (more <= 0) return;
  if (!text.empty()) text += ", ";
  text += troupe::cat(more, " ", more == 1 ? one : many);
}

}  // namespace

resources resources::now() {
  return {children(), entries_of("/proc/self/task"), entries_of("/proc/self/fd"), mapped_memory_files()};
}

std::string resources::beyond(const resources& before) const {
  std::string text;
  add(text, processes - before.processes, "process", "processes");
  add(text, threads - before.threads, "thread", "threads");
  add(text, descriptors - before.descriptors, "descriptor", "descriptors");
  add(text, memory_files - before.memory_files, "memory file", "memory files");
  return text;
}

std::string resources::left_beyond(const resources& before) {
  std::string text;
  for (const std::int64_t end = troupe::now_ns() + 5'000'000'000; troupe::now_ns() < end;) {
    text = now().beyond(before);
    if (text.empty()) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return text;
}

private_folder::private_folder() {
  std::string path = (fs::temp_directory_path() / "troupe-chaos-XXXXXX").string();
  if (::mkdtemp(path.data()) == nullptr) return;
  path_ = path;
  std::error_code failed;
  fs::create_directory(path_ + "/tmp", failed);
  for (const auto& [name, value] : {std::pair("TMPDIR", path_ + "/tmp"), {"TROUPE_CACHE", cache()}}) {
    const char* now = std::getenv(name);
    before_.emplace_back(name, now == nullptr ? std::nullopt : std::optional<std::string>(now));
    ::setenv(name, value.c_str(), 1);
  }
}

private_folder::~private_folder() {
  for (const auto& [name, value] : before_) value ? ::setenv(name, value->c_str(), 1) : ::unsetenv(name);
  std::error_code failed;
  if (!path_.empty()) fs::remove_all(path_, failed);
}

std::vector<std::string> private_folder::temporary_files() const {
  std::vector<std::string> out;
  std::error_code gone;
  for (fs::directory_iterator at(path_ + "/tmp", gone), end; !gone && at != end; at.increment(gone))
    out.push_back(at->path().filename());
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace chaos

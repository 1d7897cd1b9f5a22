// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <link.h>
#include <troupe/base/files/own_folders.hpp>
#include <troupe/worker/process/confined_files.hpp>

#include <sys/stat.h>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace troupe {
namespace {

using paths = std::vector<std::string>;

void append(paths& to, const paths& more) { to.insert(to.end(), more.begin(), more.end()); }

paths folders_in_variable(const char* variable) {
  const char* const set = ::secure_getenv(variable);
  return folders_in(set != nullptr ? set : "");
}

std::string folder_of(const std::string& file) { return std::filesystem::path(file).parent_path().string(); }

// Returns the folders of the libraries that this process has loaded so far.
paths folders_of_loaded_files() {
  paths out;
  ::dl_iterate_phdr(
      [](dl_phdr_info* file, std::size_t, void* to) {
        std::string folder = file->dlpi_name[0] == '/' ? folder_of(file->dlpi_name) : "";
        if (folder.size() > 1) static_cast<paths*>(to)->push_back(std::move(folder));
        return 0;
      },
      &out);
  return out;
}

// Returns Troupe's own files, and those that the program and its user have named.
paths named_files(const protocol::greeting& g) {
  paths out = folders_of_loaded_files();
  append(out, g.folders);
  append(out, g.readable_folders);
  append(out, folders_in_variable("LD_LIBRARY_PATH"));
  for (const char* variable : {"TROUPE_ONEDNN", "TROUPE_CXX"})
    if (const char* const file = ::secure_getenv(variable); file != nullptr && *file == '/')
      out.push_back(folder_of(file));
  if (!g.folders.empty()) {  // the last one is PREFIX/libexec/troupe/engines, and vendors' libraries are in PREFIX/lib
    const std::filesystem::path runtime = std::filesystem::absolute(g.folders.back()).parent_path();
    out.push_back(runtime.string());
    if (runtime.parent_path().filename() == "libexec")
      out.push_back((runtime.parent_path().parent_path() / "lib").string());
  }
  return out;
}

// The dying process writes a core file itself, unless the system passes it to a program.
paths folder_for_core_files(const protocol::greeting& g) {
  if (!g.settings.core_dumps) return {};
  std::string pattern;
  std::ifstream setting("/proc/sys/kernel/core_pattern");
  if (!std::getline(setting, pattern) || pattern.starts_with('|')) return {};
  return {pattern.starts_with('/') ? folder_of(pattern) : "."};
}

// Makes the folder of the cache if possible, because that is not possible later. Without compiling, the cache is hardly
// written.
paths writable_files(const protocol::greeting& g) {
  paths out{"/dev/null", "/dev/zero", "/dev/full"};
  if (g.settings.compile) out.push_back(temporary_folder());
  if (std::string cache = cache_folder(); !cache.empty()) {
    if (g.settings.compile && ::mkdir(cache.c_str(), 0700) != 0 && errno == ENOENT) {
      std::error_code ignored;
      std::filesystem::create_directories(std::filesystem::path(cache).parent_path(), ignored);
      (void)::mkdir(cache.c_str(), 0700);
    }
    out.push_back(std::move(cache));
  }
  append(out, folder_for_core_files(g));
  return out;
}

}  // namespace

file_rules standard_files(const protocol::greeting& g) {
  file_rules out{.readable = {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/opt", "/nix/store",
                              "/gnu/store", "/sys", "/proc", "/dev/urandom", "/dev/random"},
                 .writable = writable_files(g)};
  append(out.readable, named_files(g));
  append(out.readable, folders_in_variable("PATH"));
  if (!g.settings.compile) out.readable.push_back(temporary_folder());
  return out;
}

file_rules strict_files(const protocol::greeting& g) {
  file_rules out{
      .readable = {"/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/local/lib", "/lib", "/lib32", "/lib64",
                   "/etc/ld.so.cache", "/etc/localtime", "/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat",
                   "/proc/sys/vm", "/sys/devices/system", "/sys/fs/cgroup", "/dev/urandom", "/dev/random"},
      .writable = writable_files(g)};
  append(out.readable, named_files(g));
  // Headers are read to find out whether a cached program was compiled with their present content.
  if (g.settings.compile) append(out.readable, {"/usr/include", "/usr/local/include", "/usr/share"});
  return out;
}

}  // namespace troupe

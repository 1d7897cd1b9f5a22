// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>
#include <troupe/base/files/trusted_file.hpp>
#include <troupe/base/linux/errno_reaction.hpp>
#include <troupe/base/text/cat.hpp>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace troupe {
namespace {

// Returns the path of an open file; where it was, if it was removed.
std::string place_of(const std::string& link) {
  constexpr std::string_view gone = " (deleted)";
  char path[PATH_MAX];
  const ssize_t n = ::readlink(link.c_str(), path, sizeof path);
  std::string out(path, n > 0 ? static_cast<std::size_t>(n) : 0);
  if (out.ends_with(gone)) out.resize(out.size() - gone.size());
  return out;
}

uid_t owner_of_program() {
  static const uid_t owner = [] {
    struct stat s{};
    return ::getauxval(AT_SECURE) == 0 && ::stat("/proc/self/exe", &s) == 0 ? s.st_uid : ::geteuid();
  }();
  return owner;
}

std::string mode_of(const struct stat& s) {
  char text[8];
  std::snprintf(text, sizeof text, "%04o", static_cast<unsigned>(s.st_mode) & 07777);
  return text;
}

error untrusted(const std::string& domain, const std::string& path, const std::string& culprit, const struct stat& s,
                const std::string& why) {
  return error(
      reaction::fatal, domain,
      cat("cannot trust '", path, "': ", culprit == path ? "" : cat("the folder '", culprit, "' above it: "), why,
          " (owner ", s.st_uid, ", group ", s.st_gid, ", mode ", mode_of(s), "); expected root, user ", ::geteuid(),
          " or the owner of this program, and that nobody else may write "
          "it: use chown or chmod go-w, or device_options::runtime_folder or engine_folders with other folders"));
}

}  // namespace

std::string why_untrusted(const struct ::stat& s, trusted_writers writers) {
  const bool code = writers == trusted_writers::program;
  const bool owned = s.st_uid == ::geteuid() || (code && (s.st_uid == 0 || s.st_uid == owner_of_program()));
  if (!owned) return cat("it belongs to user ", s.st_uid);
  const mode_t others = code && s.st_gid == s.st_uid ? S_IWOTH : S_IWGRP | S_IWOTH;
  if ((s.st_mode & others) != 0) return "others may write it (chmod go-w)";
  return {};
}

std::string path_of_this_program() { return place_of("/proc/self/exe"); }

const std::string& replaceable_program() {
  static const std::string path = ::getauxval(AT_SECURE) == 0 ? path_of_this_program() : std::string();
  return path;
}

// Checks from the root down: no other user can change what a name in a trusted folder refers to, so each name that was
// checked still refers to the same file when the next one is checked.
result<trusted_file> open_trusted(const std::string& path, const std::string& domain, const std::string& program) {
  char* const real = ::realpath(path.c_str(), nullptr);
  if (real == nullptr) return error_of_errno(domain, "finding '" + path + "'");
  trusted_file out{.fd = {}, .path = real};
  std::free(real);
  struct stat s{};
  for (std::size_t slash = 0; slash != std::string::npos; slash = out.path.find('/', slash + 1)) {
    const std::string folder = slash == 0 ? "/" : out.path.substr(0, slash);
    if (program.starts_with(slash == 0 ? folder : folder + "/")) continue;
    if (::lstat(folder.c_str(), &s) != 0)
      return error_of_errno(domain, "reading the owner and mode of the folder '" + folder + "'");
    struct stat judged = s;
    if ((s.st_mode & S_ISVTX) != 0) judged.st_mode &= ~static_cast<mode_t>(S_IWGRP | S_IWOTH);
    std::string why = why_untrusted(judged, trusted_writers::program);
    if (!S_ISDIR(s.st_mode)) why = "it is no longer a folder";
    if (!why.empty()) return untrusted(domain, path, folder, s, why);
  }
  out.fd.reset(::open(out.path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!out.fd || ::fstat(out.fd.get(), &s) != 0) return error_of_errno(domain, "opening '" + path + "'");
  std::string why = why_untrusted(s, trusted_writers::program);
  if (!S_ISREG(s.st_mode)) why = "it is not a regular file";
  if (!why.empty()) return untrusted(domain, path, path, s, why);
  return out;
}

std::string path_to(const file_descriptor& file) {
  const std::string link = cat("/proc/self/fd/", file.get()), place = place_of(link);
  struct stat named{}, held{};
  const bool is_there = ::stat(place.c_str(), &named) == 0 && ::fstat(file.get(), &held) == 0 &&
                        named.st_ino == held.st_ino && named.st_dev == held.st_dev;
  return is_there ? place : link;
}

std::string file_of_code(const void* code) {
  Dl_info at{};
  if (::dladdr(code, &at) == 0 || at.dli_fname == nullptr) return {};
  const std::string_view name = at.dli_fname;
  if (name.starts_with("/proc/self/fd/")) return place_of(at.dli_fname);
  // The name of the program is the path it was called by, which may be relative.
  return name.starts_with('/') ? std::string(name) : path_of_this_program();
}

}  // namespace troupe

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <troupe/plan/files.hpp>
#include <troupe/plan/manifest.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace troupe::plan {
namespace {

std::optional<digest> names_in(const std::string& path) {
  std::error_code failed;
  std::vector<std::string> names;
  for (std::filesystem::directory_iterator at(path, failed), end; !failed && at != end; at.increment(failed))
    names.push_back(at->path().filename().string());
  if (failed) return std::nullopt;
  std::sort(names.begin(), names.end());
  byte_writer all;
  all.texts(names);
  return digest_of(all.bytes());
}

std::optional<digest> content_of(const std::string& path, stamp::kind is) {
  if (is == stamp::kind::nothing) return digest{};
  if (is == stamp::kind::folder) return names_in(path);
  const auto bytes = read_file(path);
  if (!bytes) return std::nullopt;
  return digest_of(*bytes);
}

}  // namespace

std::optional<stamp> stamp_without_content(const std::string& path) {
  stamp out;
  out.path = path;
  struct stat s{};
  if (::stat(path.c_str(), &s) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return out;
    return std::nullopt;
  }
  if (!S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode)) return std::nullopt;
  out.is = S_ISREG(s.st_mode) ? stamp::kind::file : stamp::kind::folder;
  out.bytes = S_ISREG(s.st_mode) ? static_cast<std::uint64_t>(s.st_size) : 0;
  out.changed_ns = s.st_mtim.tv_sec * std::int64_t{1'000'000'000} + s.st_mtim.tv_nsec;
  return out;
}

std::optional<stamp> stamp_of(const std::string& path) {
  auto now = stamp_without_content(path);
  if (!now) return std::nullopt;
  const auto content = content_of(path, now->is);
  if (!content) return std::nullopt;
  now->content = *content;
  return now;
}

bool unchanged(const stamp& s) {
  const auto now = stamp_without_content(s.path);
  if (!now || now->is != s.is) return false;
  if (now->bytes == s.bytes && now->changed_ns == s.changed_ns) return true;
  return now->bytes == s.bytes && content_of(s.path, s.is) == s.content;
}

bool unchanged(const manifest& m) {
  return std::all_of(m.begin(), m.end(), [](const stamp& s) { return unchanged(s); });
}

void write(byte_writer& to, const manifest& m) {
  to.value(static_cast<std::uint64_t>(m.size()));
  for (const stamp& s : m) {
    to.text(s.path);
    to.value(s.is);
    to.value(s.bytes);
    to.value(s.changed_ns);
    to.raw(s.content.data(), s.content.size());
  }
}

manifest read_manifest(byte_reader& from) {
  manifest out;
  for (auto n = from.value<std::uint64_t>(); n > 0 && from.sound(); --n) {
    stamp s;
    s.path = from.text();
    s.is = from.value<stamp::kind>();
    s.bytes = from.value<std::uint64_t>();
    s.changed_ns = from.value<std::int64_t>();
    const std::string_view content = from.raw(s.content.size());
    if (content.size() == s.content.size()) std::memcpy(s.content.data(), content.data(), content.size());
    out.push_back(std::move(s));
  }
  return out;
}

}  // namespace troupe::plan

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <troupe/base/files/own_folders.hpp>
#include <troupe/base/files/trusted_file.hpp>
#include <troupe/base/linux/write_all.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/plan/disk_cache.hpp>
#include <troupe/plan/files.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

namespace troupe::plan {
namespace {

// A file of an entry holds this word, a digest of all bytes after the digest, then key, manifest and value.
constexpr std::uint64_t entry_magic = 0x3165686361437254;  // "TrCache1"
constexpr std::uint64_t most_entry_bytes = std::uint64_t{1} << 30;
constexpr std::string_view entry_suffix = ".entry", unfinished_prefix = "unfinished.";
constexpr std::int64_t abandoned_after_seconds = 3600;

std::string because(const std::string& what, int code) { return what + ": " + std::strerror(code); }

std::string pack(std::string_view key, const manifest& made_from, std::string_view value) {
  byte_writer body;
  body.text(key);
  write(body, made_from);
  body.text(value);
  const digest d = digest_of(body.bytes());
  byte_writer all;
  all.value(entry_magic);
  all.raw(d.data(), d.size());
  all.raw(body.bytes().data(), body.bytes().size());
  return std::move(all).bytes();
}

struct entry {
  std::string_view key, value;
  manifest made_from;
};

std::optional<entry> unpack(std::string_view bytes) {
  byte_reader head(bytes);
  if (head.value<std::uint64_t>() != entry_magic) return std::nullopt;
  const std::string_view expected = head.raw(sizeof(digest));
  if (!head.sound()) return std::nullopt;
  const digest d = digest_of(head.rest());
  if (std::memcmp(d.data(), expected.data(), d.size()) != 0) return std::nullopt;
  byte_reader body(head.rest());
  entry e;
  e.key = body.text();
  e.made_from = read_manifest(body);
  e.value = body.text();
  if (!body.sound()) return std::nullopt;
  return e;
}

struct stored_file {
  std::string name;
  std::int64_t used;
  std::uint64_t bytes;
  bool unfinished;
};

// Lists the files of entries in the folder, and the temporary files in which entries are written.
std::vector<stored_file> files_in(int folder) {
  std::vector<stored_file> files;
  const int copy =
      ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);  // a descriptor with its own read position
  const std::unique_ptr<DIR, int (*)(DIR*)> names(copy >= 0 ? ::fdopendir(copy) : nullptr, &::closedir);
  if (!names && copy >= 0) ::close(copy);
  while (const dirent* d = names ? ::readdir(names.get()) : nullptr) {
    const std::string name = d->d_name;
    const bool unfinished = name.starts_with(unfinished_prefix);
    struct stat s{};
    if (!unfinished && !name.ends_with(entry_suffix)) continue;
    if (::fstatat(folder, name.c_str(), &s, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(s.st_mode)) continue;
    files.push_back({name, s.st_mtim.tv_sec * std::int64_t{1'000'000'000} + s.st_mtim.tv_nsec,
                     static_cast<std::uint64_t>(s.st_size), unfinished});
  }
  return files;
}

}  // namespace

std::string disk_cache::default_folder() { return cache_folder(); }

disk_cache::disk_cache(std::string folder, std::uint64_t most_bytes)
    : folder_(std::move(folder)), most_bytes_(most_bytes) {}

// Returns the folder, which is made if necessary. If the cache cannot be used, returns null and sets `why_not`.
disk_cache::folder_ref disk_cache::open_folder(std::string& why_not) {
  const std::scoped_lock guard(lock_);
  struct stat s{};
  if (opened_ && (::fstat(opened_->get(), &s) != 0 || s.st_nlink == 0)) opened_.reset();  // another process removed it
  if (!opened_) {
    std::error_code ignored;
    const std::filesystem::path path(folder_);
    std::filesystem::create_directories(path.parent_path(),
                                        ignored);  // a failure here makes the next call fail as well
    if (::mkdir(folder_.c_str(), 0700) != 0 && errno != EEXIST) {
      why_not = because("cannot make the folder " + folder_, errno);
      return nullptr;
    }
    file_descriptor fd(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!fd || ::fstat(fd.get(), &s) != 0) {
      why_not = because("cannot open the folder " + folder_, errno);
      return nullptr;
    }
    opened_ = std::make_shared<const file_descriptor>(std::move(fd));
  }
  if (const std::string untrusted = why_untrusted(s, trusted_writers::user); !untrusted.empty()) {
    why_not = "cannot use the folder " + folder_ + ": " + untrusted;
    opened_.reset();
  }
  return opened_;
}

std::optional<disk_cache::found> disk_cache::find(std::string_view key, std::string& why_not) {
  const folder_ref opened = open_folder(why_not);
  if (!opened) return std::nullopt;
  const int folder = opened->get();
  const std::string name = to_hex(digest_of(key)) + std::string(entry_suffix);
  const file_descriptor fd(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!fd) {
    if (errno != ENOENT) why_not = because("cannot read " + folder_ + "/" + name, errno);
    return std::nullopt;
  }
  struct stat s{};
  std::string wrong;
  if (::fstat(fd.get(), &s) != 0 || !S_ISREG(s.st_mode)) wrong = "it is not a regular file";
  if (wrong.empty()) wrong = why_untrusted(s, trusted_writers::user);
  std::optional<std::string> bytes;
  std::optional<entry> e;
  if (wrong.empty() && static_cast<std::uint64_t>(s.st_size) <= most_entry_bytes)
    bytes = read_all(fd.get(), static_cast<std::size_t>(s.st_size));
  if (wrong.empty() && bytes) e = unpack(*bytes);
  if (wrong.empty() && !e) wrong = "it is damaged";
  if (!wrong.empty()) {
    why_not = "cannot use " + folder_ + "/" + name + ": " + wrong;
    return std::nullopt;
  }
  if (e->key != key || !unchanged(e->made_from)) return std::nullopt;
  // Marks the entry as used now, because the least recently used entries are removed first.
  (void)::futimens(fd.get(), nullptr);
  return found{std::string(e->value), std::move(e->made_from)};
}

std::string disk_cache::store(std::string_view key, const manifest& made_from, std::string_view value) {
  std::string why_not;
  const folder_ref opened = open_folder(why_not);
  if (!opened) return why_not;
  const int folder = opened->get();
  const std::string unfinished =
      cat(unfinished_prefix, ::getpid(), ".", reinterpret_cast<std::uintptr_t>(this), ".", stored_.fetch_add(1));
  const std::string bytes = pack(key, made_from, value);
  if (bytes.size() > most_bytes_ || bytes.size() > most_entry_bytes)
    return cat("cannot store an entry in ", folder_, ": it has ", bytes.size(), " bytes; expected at most ",
               std::min(most_bytes_, most_entry_bytes));
  const std::string name = to_hex(digest_of(key)) + std::string(entry_suffix);
  (void)::unlinkat(folder, unfinished.c_str(), 0);  // left by a dead process that had the same process id, if it exists
  file_descriptor fd(::openat(folder, unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  // No fsync: the digest detects an entry that a power failure damages.
  const bool written =
      fd && write_all(fd.get(), bytes) && ::renameat(folder, unfinished.c_str(), folder, name.c_str()) == 0;
  if (!written) {
    const int code = errno;
    if (fd) (void)::unlinkat(folder, unfinished.c_str(), 0);
    return because("cannot write to " + folder_, code);
  }
  if (allowance_.fetch_sub(static_cast<std::int64_t>(bytes.size())) < static_cast<std::int64_t>(bytes.size()))
    remove_old_entries(folder);
  return {};
}

disk_cache::usage disk_cache::measure_usage() const {
  usage out;
  const file_descriptor fd(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat s{};
  if (!fd && errno == ENOENT) {
    // Finds the nearest existing folder above the cache folder, where `store` would make the missing ones.
    std::filesystem::path above = std::filesystem::absolute(folder_);
    const auto allows = [&](int what) { return ::faccessat(AT_FDCWD, above.c_str(), what, AT_EACCESS) == 0; };
    do above = above.parent_path();
    while (!allows(F_OK) && above != above.root_path());
    if (!allows(W_OK | X_OK)) out.why_not = because("cannot make the folder " + folder_, errno);
  } else if (!fd || ::fstat(fd.get(), &s) != 0) {
    out.why_not = because("cannot open the folder " + folder_, errno);
  } else if (const std::string untrusted = why_untrusted(s, trusted_writers::user); !untrusted.empty()) {
    out.why_not = "cannot use the folder " + folder_ + ": " + untrusted;
  } else {
    for (const stored_file& f : files_in(fd.get())) {
      if (f.unfinished) continue;
      ++out.entries;
      out.bytes += f.bytes;
    }
  }
  return out;
}

void disk_cache::remove_old_entries(int folder) {
  std::uint64_t total = 0;
  std::vector<stored_file> files;
  for (stored_file& f : files_in(folder)) {
    if (!f.unfinished) {
      total += f.bytes;
      files.push_back(std::move(f));
    } else if (::time(nullptr) - f.used / 1'000'000'000 > abandoned_after_seconds) {
      (void)::unlinkat(folder, f.name.c_str(), 0);
    }
  }
  if (total > most_bytes_) {
    // A process that has opened an entry can read it to the end after its removal.
    std::sort(files.begin(), files.end(), [](const stored_file& a, const stored_file& b) { return a.used < b.used; });
    for (const stored_file& f : files) {
      if (total <= most_bytes_ / 10 * 9) break;
      if (::unlinkat(folder, f.name.c_str(), 0) == 0 || errno == ENOENT) total -= f.bytes;
    }
  }
  // At most a sixteenth, because other processes may be storing, too.
  allowance_ = static_cast<std::int64_t>(std::min(most_bytes_ - std::min(total, most_bytes_), most_bytes_ / 16));
}

}  // namespace troupe::plan

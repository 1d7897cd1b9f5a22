// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <troupe/base/linux/file_descriptor.hpp>
#include <troupe/base/try.hpp>
#include <troupe/worker/process/file_rules.hpp>

#include <cerrno>

namespace troupe {
namespace {

// The interface of <linux/landlock.h>, which systems before Linux 6.12 do not have completely. The numbers are the same
// on all processors.
constexpr long create_ruleset = 444, add_rule = 445, restrict_self = 446;
struct ruleset_attributes {
  std::uint64_t files, network, scopes;
};
struct [[gnu::packed]] path_rule {
  std::uint64_t allowed;
  std::int32_t fd;
};
constexpr std::uint64_t bit(int n) { return std::uint64_t{1} << n; }
constexpr std::uint64_t execute = bit(0), write_file = bit(1), read_file = bit(2), read_folder = bit(3),
                        make_character_device = bit(6), make_socket = bit(9), make_pipe = bit(10),
                        make_block_device = bit(11), truncate = bit(14), control_device = bit(15),
                        all_of_version_1 = bit(13) - 1;
constexpr std::uint64_t tcp = bit(0) | bit(1), abstract_sockets = bit(0), signals = bit(1);

std::uint64_t file_rights(int version) {
  std::uint64_t all = all_of_version_1;
  if (version >= 2) all |= bit(13);  // to move files between folders
  if (version >= 3) all |= truncate;
  if (version >= 5) all |= control_device;
  return all;
}

error failed(const char* call) { return error::from_errno(reaction::fatal, "worker", call, errno); }

result<file_descriptor> make_ruleset(const ruleset_attributes& what, int version) {
  const std::size_t known = version >= landlock_with_scopes ? 24 : version >= landlock_with_tcp ? 16 : 8;
  file_descriptor made(static_cast<int>(::syscall(create_ruleset, &what, known, 0)));
  if (!made) return failed("landlock_create_ruleset");
  return made;
}

result<void> allow(const file_descriptor& rules, int fd, const std::string& path, std::uint64_t rights) {
  struct stat s{};
  if (::fstat(fd, &s) != 0) return {};
  if (!S_ISDIR(s.st_mode)) rights &= execute | write_file | read_file | truncate | control_device;
  const path_rule rule{rights, fd};
  if (::syscall(add_rule, rules.get(), 1, &rule, 0) != 0) return failed(("landlock_add_rule of " + path).c_str());
  return {};
}

result<void> allow(const file_descriptor& rules, const std::string& path, std::uint64_t rights) {
  const file_descriptor at(::open(path.c_str(), O_PATH | O_CLOEXEC));
  return at ? allow(rules, at.get(), path, rights) : result<void>();
}

result<void> enforce(const file_descriptor& rules) {
  if (::syscall(restrict_self, rules.get(), 0) != 0) return failed("landlock_restrict_self");
  return {};
}

}  // namespace

int landlock_version() noexcept {
  constexpr int ask_version = 1;
  const long version = ::syscall(create_ruleset, nullptr, 0, ask_version);
  return version > 0 ? static_cast<int>(version) : 0;
}

result<void> confine_files(const file_rules& rules) {
  const int version = landlock_version();
  const std::uint64_t all = file_rights(version);
  const auto made =
      TROUPE_TRY(make_ruleset({.files = all,
                               .network = version >= landlock_with_tcp ? tcp : 0,
                               .scopes = version >= landlock_with_scopes ? abstract_sockets | signals : 0},
                              version));
  for (const std::string& path : rules.readable) TROUPE_TRY(allow(made, path, execute | read_file | read_folder));
  for (const int fd : rules.opened) TROUPE_TRY(allow(made, fd, "an opened file", execute | read_file));
  const std::uint64_t devices = make_character_device | make_block_device | make_socket | make_pipe | control_device;
  for (const std::string& path : rules.writable) TROUPE_TRY(allow(made, path, all & ~devices));
  return enforce(made);
}

result<void> confine_signals() {
  const auto made = TROUPE_TRY(make_ruleset({.files = 0, .network = 0, .scopes = signals}, landlock_version()));
  return enforce(made);
}

}  // namespace troupe

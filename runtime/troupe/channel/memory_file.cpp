// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <troupe/base/linux/own_descriptors.hpp>
#include <troupe/base/linux/write_all.hpp>
#include <troupe/base/numbers/round_up.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/channel/internal/reserved_pages.hpp>
#include <troupe/channel/internal/system_error.hpp>
#include <troupe/channel/memory_file.hpp>

#include <cerrno>
#include <string>

namespace troupe {

namespace {
constexpr int size_seals = F_SEAL_SHRINK | F_SEAL_GROW;

// Fails with `retry_later` if the limit on file sizes is exceeded, because a smaller file may be within it.
error size_error(const std::string& what, int code) {
  if (code != EFBIG) return channel_error("ftruncate for " + what, code);
  return error::retry_later("channel", code, cat("ftruncate for ", what, ": File too large", hint_of_size_limit(code)));
}

}  // namespace

result<memory_file> memory_file::create(const char* name, std::size_t bytes) {
  return create(name, bytes, size_seals | F_SEAL_SEAL);
}

result<memory_file> memory_file::create_for_readers(const char* name, std::size_t bytes) {
  return create(name, bytes, size_seals);
}

result<void> memory_file::end_writing() const {
  if (::fcntl(fd_.get(), F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) != 0)
    return channel_error("sealing a memory file against writing", errno);
  return {};
}

result<memory_file> memory_file::create(const char* name, std::size_t bytes, int seals) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::string what = cat("memory file '", name, "' of ", bytes, " bytes");
  if (bytes == 0 || bytes > PTRDIFF_MAX - page)
    return error(reaction::caller_bug, "channel",
                 what + "; expected at least 1 byte and less than half the address space");
  const std::size_t size = round_up(bytes, page);
  file_descriptor fd = create_in_memory(name);
  if (!fd) return channel_error("memfd_create for " + what, errno);
  if (!resize_file(fd.get(), size)) return size_error(what, errno);
  static const bool reserves = is_overcommitting_off("/proc/sys/vm/overcommit_memory");
  if (reserves)
    if (const int code = reserve_pages(fd.get(), size); code != 0) return channel_error("fallocate for " + what, code);
  if (::fcntl(fd.get(), F_ADD_SEALS, seals) != 0) return channel_error("sealing " + what, errno);
  return memory_file(std::move(fd), size);
}

result<memory_file> memory_file::open(file_descriptor fd, std::size_t at_least) {
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) return channel_error("fstat of a received memory file", errno);
  const int seals = ::fcntl(fd.get(), F_GET_SEALS);
  if (!S_ISREG(status.st_mode) || seals < 0 || (seals & size_seals) != size_seals)
    return error(reaction::fatal, "channel", "the received descriptor is not a memory file whose size is sealed");
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0 || size < at_least)
    return error(reaction::fatal, "channel",
                 cat("the received memory file has ", size, " bytes; expected at least ", at_least));
  return memory_file(std::move(fd), size);
}

}  // namespace troupe

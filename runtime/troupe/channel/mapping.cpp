// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>
#include <unistd.h>
#include <troupe/base/linux/unwatched_mmap.hpp>
#include <troupe/base/numbers/round_up.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/channel/internal/system_error.hpp>
#include <troupe/channel/mapping.hpp>
#include <troupe/channel/memory_file.hpp>

#include <cerrno>
#include <cstdio>
#include <string>

namespace troupe {
namespace {

constexpr std::size_t worth_huge_pages = std::size_t{4} << 20;
std::size_t page_bytes() noexcept {
  static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}
constexpr int free_range_flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

std::string describe(std::size_t bytes, std::uintptr_t address) {
  char at[32] = "";
  if (address != 0) std::snprintf(at, sizeof at, " at 0x%zx", static_cast<std::size_t>(address));
  return cat(bytes, " bytes", at);
}

int protection(map_access access) { return access == map_access::read_only ? PROT_READ : PROT_READ | PROT_WRITE; }

// Calls mmap. If an address is given, maps exactly there or fails.
result<std::byte*> map_memory(std::size_t bytes, std::uintptr_t address, int prot, int flags, int fd) {
  if (address != 0) flags |= MAP_FIXED_NOREPLACE;
  void* got = ::mmap(reinterpret_cast<void*>(address), bytes, prot, flags, fd, 0);
  if (got == MAP_FAILED && errno == EEXIST)
    return error(reaction::retry_later, "channel",
                 "mapping " + describe(bytes, address) + ": the addresses are in use; choose another address");
  if (got == MAP_FAILED) return channel_error("mapping " + describe(bytes, address), errno);
  return static_cast<std::byte*>(got);
}

void advise(std::byte* data, std::size_t bytes) {
  if (bytes >= worth_huge_pages)
    (void)::madvise(data, bytes, MADV_HUGEPAGE);  // a hint: many kernels disable it for shared memory
}

}  // namespace

void mapped_range_traits::close(const mapped_range& range) noexcept {
  if (range.reserved) {
    ::mmap(range.data, range.size, PROT_NONE, free_range_flags | MAP_FIXED, -1, 0);
  } else {
    ::munmap(range.data, range.size);
  }
}

result<mapping> mapping::map(const memory_file& file, map_access access, std::uintptr_t address) {
  const auto data = TROUPE_TRY(map_memory(file.size(), address, protection(access), MAP_SHARED, file.fd()));
  advise(data, file.size());
  return mapping({.data = data, .size = file.size()});
}

result<void> mapping::show(const memory_file& file) {
  if (file.size() != size())
    return error(reaction::caller_bug, "channel",
                 cat("replacing a mapping by a file: the file has ", file.size(), " bytes; expected ", size(),
                     ", the size of the mapping"));
  // Mapped without the thread sanitizer's knowledge, because other threads read this memory meanwhile.
  void* const got = unwatched_mmap(data(), size(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file.fd());
  if (got == MAP_FAILED) return channel_error("mapping " + describe(size(), address()), errno);
  return {};
}

result<address_reservation> address_reservation::reserve(std::size_t bytes, std::uintptr_t base) {
  const auto data = TROUPE_TRY(map_memory(bytes, base, PROT_NONE, free_range_flags, -1));
  return address_reservation({.data = data, .size = bytes});
}

bool address_reservation::contains(std::uintptr_t address, std::size_t bytes) const noexcept {
  return address >= base() && bytes <= size() && address - base() <= size() - bytes;
}

result<void> address_reservation::protect(std::uintptr_t address, std::size_t bytes, map_access access) const {
  if (!contains(address, bytes))
    return error(reaction::caller_bug, "channel",
                 "protecting " + describe(bytes, address) + ": outside the reservation of " + describe(size(), base()));
  if (::mprotect(reinterpret_cast<void*>(address), bytes, protection(access)) != 0)
    return channel_error("mprotect of " + describe(bytes, address), errno);
  return {};
}

namespace {

// Replaces an existing mapping in one step, because of MAP_FIXED.
bool map_zeros(std::byte* at) {
  return ::mmap(at, page_bytes(), PROT_READ, free_range_flags | MAP_FIXED, -1, 0) != MAP_FAILED;
}
void map_nothing(std::byte* at, std::size_t bytes) {
  if (bytes != 0) ::mmap(at, bytes, PROT_NONE, free_range_flags | MAP_FIXED, -1, 0);
}

}  // namespace

result<void> address_reservation::show_zeros(std::uintptr_t address) const {
  if (!contains(address, page_bytes()))
    return error(
        reaction::caller_bug, "channel",
        "mapping " + describe(page_bytes(), address) + ": outside the reservation of " + describe(size(), base()));
  if (!map_zeros(reinterpret_cast<std::byte*>(address)))
    return channel_error("mapping " + describe(page_bytes(), address), errno);
  return {};
}

void address_reservation::hide_zeros(std::uintptr_t address) const noexcept {
  if (contains(address, page_bytes())) map_nothing(reinterpret_cast<std::byte*>(address), page_bytes());
}

void address_reservation::remove(mapping placed, bool zeros) const noexcept {
  if (!zeros || placed.size() == 0) return;  // otherwise the destructor of `placed` unmaps it
  const mapped_range range = placed.range_.release();
  const std::size_t kept = map_zeros(range.data) ? page_bytes() : 0;
  const std::size_t whole = round_up(range.size, page_bytes());
  map_nothing(range.data + kept, whole - kept);
}

result<mapping> address_reservation::place(const memory_file& file, map_access access, std::uintptr_t address) const {
  if (!contains(address, file.size()))
    return error(
        reaction::caller_bug, "channel",
        "mapping " + describe(file.size(), address) + ": outside the reservation of " + describe(size(), base()));
  void* got =
      ::mmap(reinterpret_cast<void*>(address), file.size(), protection(access), MAP_SHARED | MAP_FIXED, file.fd(), 0);
  if (got == MAP_FAILED) return channel_error("mapping " + describe(file.size(), address), errno);
  advise(static_cast<std::byte*>(got), file.size());
  return mapping({.data = static_cast<std::byte*>(got), .size = file.size(), .reserved = true});
}

}  // namespace troupe

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <troupe/channel/internal/reserved_pages.hpp>
#include <troupe/channel/mapping.hpp>
#include <troupe/channel/memory_file.hpp>

namespace troupe {
namespace {

memory_file make(std::size_t bytes) { return memory_file::create("test", bytes).value(); }

file_descriptor duplicate(const memory_file& file) { return file_descriptor(::fcntl(file.fd(), F_DUPFD_CLOEXEC, 0)); }

/// Returns addresses that are probably unused.
std::uintptr_t free_addresses(std::size_t bytes) { return address_reservation::reserve(bytes).value().base(); }

TEST(memory_file, is_whole_pages_of_zeros_and_close_on_exec) {
  const memory_file file = make(5000);
  EXPECT_EQ(file.size(), 8192u);
  EXPECT_TRUE(::fcntl(file.fd(), F_GETFD) & FD_CLOEXEC);
  const mapping memory = mapping::map(file, map_access::read_write).value();
  for (std::byte b : memory.bytes()) ASSERT_EQ(b, std::byte{0});
}

TEST(memory_file, has_a_size_and_seals_that_cannot_be_changed) {
  const memory_file file = make(4096);
  EXPECT_EQ(::ftruncate(file.fd(), 0), -1);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(::ftruncate(file.fd(), 8192), -1);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(::fcntl(file.fd(), F_ADD_SEALS, F_SEAL_WRITE), -1);
}

TEST(memory_file, cannot_be_made_executable_if_the_kernel_supports_that) {
  const file_descriptor known(::memfd_create("known", MFD_CLOEXEC | 8U));  // MFD_NOEXEC_SEAL
  const memory_file file = make(4096);
  EXPECT_EQ(::fchmod(file.fd(), 0700), known ? -1 : 0);
}

TEST(memory_file, fails_with_an_error_and_no_signal_beyond_the_limit_on_file_sizes) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit few{.rlim_cur = 8192, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &few), 0);
  const auto large = memory_file::create("test", 8193), small = memory_file::create("test", 8192);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().reaction(), reaction::retry_later);
  EXPECT_EQ(large.error().code(), EFBIG);
  EXPECT_NE(large.error().text().find("ulimit -f, LimitFSIZE="), std::string::npos) << large.error().text();
  EXPECT_TRUE(small);
}

TEST(memory_file, has_all_its_pages_from_the_start_only_if_the_system_does_not_overcommit) {
  const auto bytes_taken = [](int fd) {
    struct stat s{};
    ::fstat(fd, &s);
    return s.st_blocks * 512;
  };
  const memory_file file = make(1 << 20);
  const bool off = is_overcommitting_off("/proc/sys/vm/overcommit_memory");
  EXPECT_EQ(bytes_taken(file.fd()), off ? 1 << 20 : 0);
  EXPECT_EQ(reserve_pages(file.fd(), 1 << 20), 0);
  EXPECT_EQ(bytes_taken(file.fd()), 1 << 20);
  EXPECT_EQ(reserve_pages(file.fd(), 2 << 20), EPERM) << "its size is sealed";
}

TEST(memory_file, counts_overcommitting_as_off_only_in_mode_2) {
  char path[] = "/tmp/troupe_channel_testXXXXXX";
  const file_descriptor file(::mkstemp(path));
  for (const char* mode : {"0\n", "1\n", "2\n", ""}) {
    ASSERT_EQ(::ftruncate(file.get(), 0), 0);
    ASSERT_EQ(::pwrite(file.get(), mode, std::strlen(mode), 0), static_cast<ssize_t>(std::strlen(mode)));
    EXPECT_EQ(is_overcommitting_off(path), mode[0] == '2') << mode;
  }
  ::unlink(path);
  EXPECT_FALSE(is_overcommitting_off(path)) << "there is no such file";
}

TEST(memory_file, is_refused_if_it_has_no_bytes_or_too_many) {
  EXPECT_EQ(memory_file::create("test", 0).error().reaction(), reaction::caller_bug);
  EXPECT_EQ(memory_file::create("test", SIZE_MAX).error().text(),
            "memory file 'test' of 18446744073709551615 bytes; expected at least 1 byte and less than half the address "
            "space");
}

TEST(memory_file, is_opened_only_if_its_size_is_sealed_and_large_enough) {
  const memory_file file = make(4096);
  EXPECT_EQ(memory_file::open(duplicate(file)).value().size(), 4096u);
  EXPECT_EQ(memory_file::open(duplicate(file), 4097).error().text(),
            "the received memory file has 4096 bytes; expected at least 4097");
  file_descriptor loose(::memfd_create("loose", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_FALSE(memory_file::open(std::move(loose)));
  EXPECT_EQ(memory_file::open(file_descriptor(::open("/dev/zero", O_RDWR | O_CLOEXEC))).error().text(),
            "the received descriptor is not a memory file whose size is sealed");
  EXPECT_FALSE(memory_file::open(file_descriptor()));
}

TEST(mapping, all_mappings_of_a_file_share_its_memory) {
  const memory_file file = make(4096);
  const mapping one = mapping::map(file, map_access::read_write).value();
  const mapping two = mapping::map(file, map_access::read_only).value();
  EXPECT_NE(one.data(), two.data());
  std::strcpy(reinterpret_cast<char*>(one.data()), "seen by both");
  EXPECT_STREQ(reinterpret_cast<const char*>(two.data()), "seen by both");
}

TEST(mapping, is_at_the_requested_address_or_fails) {
  const memory_file file = make(8192);
  const std::uintptr_t address = free_addresses(8192);
  const mapping there = mapping::map(file, map_access::read_write, address).value();
  EXPECT_EQ(there.address(), address);
  there.data()[5000] = std::byte{42};
  const auto again = mapping::map(file, map_access::read_write, address + 4096);
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().text().find("the addresses are in use"), std::string::npos) << again.error().text();
  EXPECT_EQ(there.data()[5000], std::byte{42});
}

TEST(mapping, moves_like_a_handle_and_unmaps_when_reset) {
  const memory_file file = make(4096);
  mapping first = mapping::map(file, map_access::read_write).value();
  const std::uintptr_t address = first.address();
  mapping second = std::move(first);
  EXPECT_FALSE(first);
  EXPECT_EQ(second.address(), address);
  second = {};
  EXPECT_EQ(::msync(reinterpret_cast<void*>(address), 4096, MS_ASYNC), -1);
  EXPECT_EQ(errno, ENOMEM) << "still mapped";
}

TEST(mapping, read_only_memory_cannot_be_written) {
  const memory_file file = make(4096);
  const mapping memory = mapping::map(file, map_access::read_only).value();
  // The kernel reads the memory for this process, and reports the fault instead of raising a signal.
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], "x", 1), 1);
  EXPECT_EQ(::read(ends[0], memory.data(), 1), -1);
  EXPECT_EQ(errno, EFAULT);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(address_reservation, keeps_its_addresses_when_mappings_are_removed) {
  constexpr std::size_t page = 4096;
  const std::uintptr_t base = free_addresses(16 * page);
  const address_reservation range = address_reservation::reserve(16 * page, base).value();
  EXPECT_EQ(range.base(), base);
  EXPECT_FALSE(address_reservation::reserve(page, base + page)) << "taken";
  const memory_file file = make(2 * page);
  {
    const mapping inside = range.place(file, map_access::read_write, base + 4 * page).value();
    EXPECT_EQ(inside.address(), base + 4 * page);
    inside.data()[0] = std::byte{7};
  }
  EXPECT_FALSE(mapping::map(file, map_access::read_write, base + 4 * page))
      << "the reservation must have taken the addresses back";
  const mapping again = range.place(file, map_access::read_only, base + 6 * page).value();
  EXPECT_EQ(again.data()[0], std::byte{7});
}

TEST(address_reservation, places_nothing_outside_itself) {
  constexpr std::size_t page = 4096;
  const address_reservation range = address_reservation::reserve(4 * page).value();
  const memory_file file = make(2 * page);
  EXPECT_TRUE(range.place(file, map_access::read_write, range.base() + 2 * page));
  for (const std::uintptr_t address :
       {range.base() - page, range.base() + 3 * page, range.base() + 100 * page, std::uintptr_t{0}})
    EXPECT_EQ(range.place(file, map_access::read_write, address).error().reaction(), reaction::caller_bug);
  EXPECT_FALSE(range.place(make(8 * page), map_access::read_write, range.base())) << "larger than the reservation";
  EXPECT_FALSE(range.place(file, map_access::read_write, range.base() + 1)) << "not at a page";
}

}  // namespace
}  // namespace troupe

// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstring>
#include <troupe/worker/plugins/placed_memory.hpp>

namespace troupe {
namespace {

const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));

class placed_memory_pages : public testing::Test {
 protected:
  // Returns false if access to the address is forbidden, without a fault.
  static bool can_read(std::uintptr_t address) {
    char here = 0;
    const iovec to{&here, 1}, from{reinterpret_cast<void*>(address), 1};
    return ::process_vm_readv(::getpid(), &to, 1, &from, 1, 0) == 1;
  }
  static bool can_write(std::uintptr_t address) {
    char here = *reinterpret_cast<const char*>(address);
    const iovec from{&here, 1}, to{reinterpret_cast<void*>(address), 1};
    return ::process_vm_writev(::getpid(), &from, 1, &to, 1, 0) == 1;
  }
  std::uintptr_t at(std::size_t pages) const { return memory_.base() + pages * page; }
  void place(std::size_t where, std::size_t pages, unsigned char content) {
    const memory_file file = memory_file::create("placed", pages * page).value();
    const auto placed = memory_.place(file, map_access::read_write, at(where));
    ASSERT_TRUE(placed) << placed.error().to_string();
    std::memset(*placed, content, pages * page);
  }
  // Returns a character for each page: '.' for a fault, 'z' if it reads as zeros and is read-only, otherwise the first
  // byte of a file.
  std::string pages() const {
    std::string out;
    for (std::size_t p = 0; p < reserved; ++p) {
      const bool readable = can_read(at(p));
      EXPECT_EQ(readable, can_read(at(p + 1) - 1)) << p;
      if (!readable)
        out += '.';
      else if (!can_write(at(p)))
        out += *reinterpret_cast<const char*>(at(p)) == 0 ? 'z' : '?';
      else
        out += *reinterpret_cast<const char*>(at(p));
    }
    return out;
  }

  static constexpr std::size_t reserved = 8;
  placed_memory memory_{address_reservation::reserve(reserved * page).value()};
};

TEST_F(placed_memory_pages, are_followed_by_exactly_one_page_of_zeros) {
  place(1, 2, 'a');
  EXPECT_EQ(pages(), ".aaz....");
  EXPECT_EQ(memory_.find(at(1)), reinterpret_cast<std::byte*>(at(1)));
  EXPECT_EQ(memory_.find(at(2)), nullptr);
  memory_.remove(at(1));
  EXPECT_EQ(pages(), "........");
}

TEST_F(placed_memory_pages, keep_the_page_of_zeros_after_a_file_there_is_placed_and_removed) {
  place(0, 2, 'a');
  place(2, 1, 'b');
  place(3, 1, 'c');
  EXPECT_EQ(pages(), "aabcz...");
  memory_.remove(at(2));
  EXPECT_EQ(pages(), "aazcz...");
  place(2, 1, 'd');
  memory_.remove(at(3));
  EXPECT_EQ(pages(), "aadz....");
  memory_.remove(at(0));
  EXPECT_EQ(pages(), "..dz....");
  memory_.remove(at(2));
  EXPECT_EQ(pages(), "........");
}

TEST_F(placed_memory_pages, may_reach_the_end_of_the_addresses) {
  place(0, reserved, 'a');
  EXPECT_EQ(pages(), "aaaaaaaa");
  memory_.remove(at(0));
  EXPECT_EQ(pages(), "........");
}

TEST_F(placed_memory_pages, are_all_unmapped_when_a_file_of_several_pages_is_removed) {
  place(0, 1, 'a');
  place(1, 4, 'b');
  memory_.remove(at(1));
  EXPECT_EQ(pages(), "az......");
}

}  // namespace
}  // namespace troupe

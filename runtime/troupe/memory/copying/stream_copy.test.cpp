// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <troupe/memory/copying/stream_copy.hpp>
#include <vector>

namespace troupe {
namespace {

TEST(stream_copy, copies_any_size_between_any_addresses_and_writes_nothing_else) {
  constexpr std::size_t room = 3000, most = 2200;
  std::vector<std::byte> from(room);
  for (std::size_t i = 0; i < room; ++i) from[i] = static_cast<std::byte>(i * 131 >> 3 | 1);
  for (const std::size_t bytes : {0, 1, 63, 64, 1023, 1024, 1025, 1088, 2000, 2200})
    for (const std::size_t there : {0, 1, 16, 31, 32, 63, 64, 100})
      for (const std::size_t here : {0, 3, 32, 64, 77}) {
        std::vector<std::byte> to(room), expected(room);
        std::copy_n(from.data() + here, bytes, expected.data() + there);
        stream_copy(to.data() + there, from.data() + here, bytes);
        ASSERT_EQ(to, expected) << bytes << " bytes from offset " << here << " to offset " << there;
      }
  static_assert(most + 100 <= room);
}

}  // namespace
}  // namespace troupe

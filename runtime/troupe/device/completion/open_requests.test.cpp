// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <troupe/device/completion/open_requests.hpp>
#include <troupe/memory/requests.hpp>

namespace troupe {
namespace {

request_info named(std::string_view label) {
  request_info out = detail::info_of<memory::ping>;
  out.label = label;
  return out;
}
std::uint64_t copied_bytes(const request_info& what, std::uint64_t first_bytes, std::uint64_t second_bytes) {
  ledger_entry e;
  e.info = &what;
  e.many.resize(2);
  e.many[0].what = {1000, 1000 + first_bytes, access_mode::read};
  e.many[1].what = {1u << 30, (1u << 30) + second_bytes, access_mode::write};
  return troupe::copied_bytes(e);
}

TEST(open_requests, count_the_bytes_that_the_copy_engine_may_move) {
  for (const char* label : {"memory.download", "memory.copy_2d", "graph.launch"}) {
    EXPECT_EQ(copied_bytes(named(label), 5000, 8), 5000u) << label;
    EXPECT_EQ(copied_bytes(named(label), 8, 5000), 5000u) << label;
  }
  EXPECT_EQ(copied_bytes(named("blas.gemm"), 5000, 5000), 0u) << "a kernel";
}

}  // namespace
}  // namespace troupe

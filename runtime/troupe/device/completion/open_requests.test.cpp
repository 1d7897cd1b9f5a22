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
bool copies_much(const request_info& what, std::uint64_t first_bytes, std::uint64_t second_bytes) {
  ledger_entry e;
  e.info = &what;
  e.many.resize(2);
  e.many[0].what = {1000, 1000 + first_bytes, access_mode::read};
  e.many[1].what = {1u << 30, (1u << 30) + second_bytes, access_mode::write};
  return troupe::copies_much(e);
}

TEST(open_requests, copy_much_if_they_move_more_than_a_gpu_does_at_once) {
  constexpr std::uint64_t much = (64 << 10) + 1;
  for (const char* label : {"memory.download", "memory.copy_2d", "graph.launch"}) {
    EXPECT_TRUE(copies_much(named(label), much, 8)) << label;
    EXPECT_TRUE(copies_much(named(label), 8, much)) << label;
    EXPECT_FALSE(copies_much(named(label), much - 1, much - 1)) << label;
  }
  EXPECT_FALSE(copies_much(named("blas.gemm"), much, much)) << "a kernel";
}

}  // namespace
}  // namespace troupe

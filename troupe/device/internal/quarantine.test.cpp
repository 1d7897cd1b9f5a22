// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <array>
#include <troupe/device/internal/quarantine.hpp>

namespace troupe {
namespace {

constexpr std::uint64_t device_begin = 0x10000, device_end = 0x20000, blob_address = 0x30000;

std::uint64_t signature(std::uint64_t opcode, std::array<std::uint64_t, 3> payload, std::array<std::uint64_t, 2> blob,
                        std::uint64_t blob_at = blob_address) {
  return quarantine::signature_of({.opcode = opcode,
                                   .payload = std::as_bytes(std::span(payload)),
                                   .blob = std::as_bytes(std::span(blob)),
                                   .blob_address = blob_at,
                                   .device_begin = device_begin,
                                   .device_end = device_end});
}

TEST(quarantine, refuses_what_has_brought_two_workers_down) {
  quarantine q;
  EXPECT_FALSE(q.any());
  EXPECT_FALSE(q.blame(7));
  EXPECT_FALSE(q.holds(7));
  EXPECT_FALSE(q.any());
  EXPECT_TRUE(q.blame(7));
  EXPECT_TRUE(q.holds(7) && q.any());
  EXPECT_FALSE(q.holds(8));
  EXPECT_FALSE(q.blame(7)) << "it is told once";
  EXPECT_EQ(q.size(), 1u);
  q.lift();
  EXPECT_FALSE(q.holds(7) || q.any());
}

TEST(quarantine, knows_a_request_wherever_its_operands_lie) {
  const auto one = signature(1, {0x10100, 64, blob_address}, {5, 0x10200});
  EXPECT_EQ(one, signature(1, {0x1ff00, 64, blob_address}, {5, 0x10000}));
  EXPECT_EQ(one, signature(1, {0x10100, 64, 0x50000}, {5, 0x10200}, 0x50000)) << "nor where its lists lie";
}

TEST(quarantine, tells_requests_apart_that_say_something_else) {
  const auto one = signature(1, {0x10100, 64, blob_address}, {5, 6});
  EXPECT_NE(one, signature(2, {0x10100, 64, blob_address}, {5, 6}));
  EXPECT_NE(one, signature(1, {0x10100, 65, blob_address}, {5, 6}));
  EXPECT_NE(one, signature(1, {0x10100, 64, blob_address}, {6, 5}));
  EXPECT_NE(one, signature(1, {0x40000, 64, blob_address}, {5, 6})) << "another program";
  EXPECT_NE(one, signature(1, {0x10100, 64, blob_address + 8}, {5, 6}));
}

TEST(quarantine, does_not_grow_without_end) {
  quarantine q;
  q.blame(1);
  q.blame(1);
  for (std::uint64_t s = 2; s < 20'000; ++s) EXPECT_FALSE(q.blame(s));
  EXPECT_TRUE(q.holds(1)) << "what is refused stays so";
}

}  // namespace
}  // namespace troupe

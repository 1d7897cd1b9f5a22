// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <random>
#include <troupe/protocol/command.hpp>

namespace troupe::protocol {
namespace {

std::vector<std::byte> good(std::uint8_t accesses, std::uint16_t payload) {
  std::vector<std::byte> out(sizeof(command_header) + accesses * sizeof(memory_access) + payload);
  const command_header head{.opcode = 1,
                            .library = 2,
                            .generation = 0,
                            .reports_seen = 4,
                            .segments = 5,
                            .access_count = accesses,
                            .flags = {},
                            .payload_bytes = payload};
  (void)write_command(out.data(), head,
                      [](std::size_t i) { return memory_access{100 * i, 100 * i + 50, access_mode::read_write}; });
  return out;
}

TEST(command, a_complete_record_is_parsed_into_its_parts) {
  const auto record = good(3, 40);
  const auto c = parse_command(record);
  ASSERT_TRUE(c);
  EXPECT_EQ(c->head.segments, 5u);
  EXPECT_EQ(c->accesses.size(), 3 * sizeof(memory_access));
  EXPECT_EQ(c->payload.data(), record.data() + record.size() - 40);
}

TEST(command, a_disarmed_record_touches_nothing_and_runs_alone) {
  auto record = good(3, 40);
  disarm_command(record.data());
  const auto c = parse_command(record);
  ASSERT_TRUE(c);
  EXPECT_TRUE(c->accesses.empty());
  EXPECT_TRUE(c->head.flags.alone());
  EXPECT_EQ(c->head.opcode, 1u);
}

TEST(command, a_record_that_is_truncated_anywhere_is_refused) {
  const auto record = good(3, 40);
  for (std::size_t n = 0; n < record.size(); ++n) EXPECT_FALSE(parse_command(std::span(record).first(n))) << n;
}

TEST(command, impossible_counts_modes_and_ranges_are_refused) {
  auto modes = good(1, 8);
  modes[sizeof(command_header) + offsetof(memory_access, mode)] = std::byte{4};
  EXPECT_FALSE(parse_command(modes));
  auto ranges = good(1, 8);
  ranges[sizeof(command_header) + offsetof(memory_access, begin)] = std::byte{200};
  EXPECT_FALSE(parse_command(ranges));
  EXPECT_FALSE(parse_command(good(max_operands + 1, 8)));
}

TEST(command, flags_and_priority_are_read_as_written_and_invalid_priorities_are_refused) {
  auto record = good(1, 8);
  std::byte& flags = record[offsetof(command_header, flags)];
  for (const priority p : {priority::normal, priority::high, priority::low})
    for (const int set : {0, 1, 2, 3, 4, 5, 6, 7}) {
      const bool alone = (set & 1) != 0, bound = (set & 2) != 0, timed = (set & 4) != 0;
      const command_flags sent(alone, p, bound, timed);
      std::memcpy(&flags, &sent, sizeof sent);
      const auto c = parse_command(record);
      ASSERT_TRUE(c);
      EXPECT_EQ(c->head.flags.alone(), alone);
      EXPECT_EQ(c->head.flags.bound(), bound);
      EXPECT_EQ(c->head.flags.timed(), timed);
      EXPECT_EQ(c->head.flags.priority(), p);
    }
  for (const int bits : {24, 25, 32, 255}) {
    flags = static_cast<std::byte>(bits);
    EXPECT_FALSE(parse_command(record)) << bits;
  }
}

TEST(command, a_list_of_accesses_beside_the_record_is_found_and_checked) {
  auto record = good(1, 8);
  auto head = reinterpret_cast<command_header*>(record.data());
  head->access_count = listed_accesses;
  const auto list = [&](std::uint64_t address, std::uint64_t count) {
    const std::uint64_t raw[2] = {address, count};
    std::memcpy(record.data() + sizeof *head, raw, sizeof raw);
    return parse_command(record);
  };
  const auto found = list(0x10000, 700);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->list->address, 0x10000u);
  EXPECT_EQ(found->list->count, 700u);
  EXPECT_TRUE(found->accesses.empty());
  EXPECT_EQ(found->payload.size(), 8u);
  EXPECT_FALSE(list(0x10001, 700));
  EXPECT_FALSE(list(0x10000, access_list::most + 1));
  for (std::size_t n = 0; n < record.size(); ++n) EXPECT_FALSE(parse_command(std::span(record).first(n))) << n;
}

TEST(access_list, is_unchanged_by_writing_and_reading) {
  const std::vector<memory_access> all = {{0, 8, access_mode::read}, {64, 64, access_mode::write}};
  std::vector<memory_access> place(all.size());
  access_list::write(reinterpret_cast<std::byte*>(place.data()), all.size(), [&](std::size_t i) { return all[i]; });
  const access_list list{reinterpret_cast<std::uintptr_t>(place.data()), all.size()};
  const memory_access named = list.in_record();
  EXPECT_EQ(access_list::from_record(std::as_bytes(std::span(&named, 1))), list);
  const auto read = list.read();
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(std::memcmp(&(*read)[i], &all[i], sizeof all[i]), 0) << i;

  place[1].begin = 65;  // the list now ends after the memory
  EXPECT_FALSE(list.read());
}

TEST(access_list, is_within_memory_only_if_all_of_its_bytes_are) {
  const std::uint64_t bytes = access_list::bytes_for(2);
  EXPECT_TRUE((access_list{4096, 2}.is_within(4096, 4096 + bytes)));
  EXPECT_FALSE((access_list{4096, 2}.is_within(4096, 4096 + bytes - 1)));
  EXPECT_FALSE((access_list{4096, 2}.is_within(4097, 8192)));
  EXPECT_FALSE((access_list{8192, 2}.is_within(0, 4096)));
  EXPECT_FALSE((access_list{UINT64_MAX - 7, access_list::most}.is_within(0, UINT64_MAX)));
}

TEST(command, random_bytes_never_cause_an_access_outside_the_record) {
  const char* given = std::getenv("TROUPE_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 0) : std::random_device{}();
  SCOPED_TRACE("TROUPE_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  int accepted = 0;
  for (int i = 0; i < 200'000; ++i) {
    auto record = good(static_cast<std::uint8_t>(random() % 5), static_cast<std::uint16_t>(random() % 64));
    for (auto flips = random() % 4; flips > 0; --flips)
      record[random() % record.size()] = static_cast<std::byte>(random());
    // An allocation of exactly this size, so that a sanitizer detects every access outside of it.
    const std::vector<std::byte> exact(record.begin(),
                                       record.begin() + static_cast<std::ptrdiff_t>(random() % (record.size() + 1)));
    if (const auto c = parse_command(exact)) {
      ++accepted;
      ASSERT_LE(c->payload.data() + c->payload.size(), exact.data() + exact.size());
    }
  }
  EXPECT_GT(accepted, 0);
}

}  // namespace
}  // namespace troupe::protocol
